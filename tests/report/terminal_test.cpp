// SPDX-License-Identifier: Apache-2.0
//
// Reports for people, from verdicts made by hand.

#include "report/terminal.h"
#include "report/failure_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "case/case_text.h"
#include "report/case_excerpt.h"

namespace thaw {
namespace {

Verdict with_findings() {
  Verdict verdict{
      .cache = "counter:host_int", .device = "sim", .status = Verdict::Status::findings};
  verdict.findings = {{.kind = FindingKind::length,
                       .op = 2,
                       .step = 0,
                       .place = "row 0",
                       .expected = "length 5",
                       .found = "write position 6"},
                      {.kind = FindingKind::slots,
                       .op = 3,
                       .step = 2,
                       .place = "layer 0, row 0, head 0, position 6, keys",
                       .expected = "row 0, position 6, written by op 3",
                       .found = "nothing"}};
  return verdict;
}

Case small_case() {
  return parse_case(
      "thaw case 1\ncache counter:host_int\nslots 8\nprefill 0 5\ncapture g\n"
      "replay g x3\ndecode\n",
      "case");
}

std::string without_colour(std::string text) {
  for (size_t begin; (begin = text.find('\x1b')) != std::string::npos;) {
    text.erase(begin, text.find('m', begin) - begin + 1);
  }
  return text;
}

Investigation of_small_case() {
  Investigation made;
  made.necessity = {.needed_ops = {1, 2, 3},
                    .not_needed_ops = {},
                    .any_value = {"dim", "seed"},
                    .needed_values = {"slots"},
                    .runs = 12};
  return made;
}

TEST(FailureReport, leads_with_the_finding_that_explains_most_and_names_the_first_in_time) {
  EXPECT_EQ(leading_finding(with_findings()).kind, FindingKind::slots);
  const std::string text =
      failure_report(small_case(), with_findings(), of_small_case(), "thaw run a.kv", {});
  EXPECT_EQ(
      text.find("counter:host_int on sim: slots@3.2, and 1 more kind of finding; the first in "
                "time is length@2\n"),
      0U)
      << text;
}

TEST(FailureReport, tells_where_expected_found_cause_remedy_what_matters_and_the_command) {
  const std::string text =
      failure_report(small_case(), with_findings(), of_small_case(), "thaw run a.kv", {});
  for (const char* line :
       {"  place     layer 0, row 0, head 0, position 6, keys\n",
        "  expected  row 0, position 6, written by op 3\n", "  found     nothing\n", "  cause     ",
        "  remedy    ", "  matters   op 1, 2, 3; the value of slots\n",
        "  does not  any value works for dim, seed\n",
        "  also      length@2: row 0: expected length 5, found write position 6\n",
        "  repeat    thaw run a.kv\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST(FailureReport, ends_with_the_case_up_to_the_finding_as_a_test) {
  const std::string text =
      failure_report(small_case(), with_findings(), of_small_case(), "thaw run a.kv", {});
  const std::string test = test_to_paste(small_case(), with_findings());
  EXPECT_NE(text.find(test), std::string::npos) << text;
  EXPECT_NE(test.find("replay g x3\n)case\""), std::string::npos) << test;
  EXPECT_EQ(test.find("decode"), std::string::npos) << test;
}

TEST(FailureReport, colours_change_no_word_of_it) {
  const std::string plain =
      failure_report(small_case(), with_findings(), of_small_case(), "thaw run a.kv", {});
  const std::string coloured = failure_report(small_case(), with_findings(), of_small_case(),
                                              "thaw run a.kv", {.colour = true});
  EXPECT_NE(coloured, plain);
  EXPECT_EQ(without_colour(coloured), plain);
}

TEST(FailureReport, keeps_to_the_width_but_for_the_test_to_paste) {
  for (const int width : {60, 80, 100}) {
    const std::string text = failure_report(small_case(), with_findings(), of_small_case(),
                                            "thaw run a.kv", {.width = width});
    std::istringstream lines(text.substr(0, text.find("#include")));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << line;
    }
  }
}

TEST(CaseExcerpt, of_a_short_case_is_all_of_it) {
  const std::string text = case_excerpt(small_case(), {}, nullptr, {});
  EXPECT_EQ(text,
            "       cache counter:host_int\n       slots 8\n    1  prefill 0 5\n    2  capture g\n"
            "    3  replay g x3\n    4  decode\n");
}

TEST(CaseExcerpt, of_a_long_case_keeps_the_captures_and_what_led_to_each_finding) {
  std::string text = "thaw case 1\nslots 4096\nprefill 0 1\n";
  for (int i = 0; i < 100; ++i) text += "decode\n";
  text += "capture g\n";
  for (int i = 0; i < 100; ++i) text += "decode\n";
  text += "replay g\ndecode\ndecode\n";
  const Case c = parse_case(text, "case");
  const Finding finding{
      .kind = FindingKind::slots, .op = 203, .step = 1, .place = "", .expected = "", .found = ""};
  EXPECT_EQ(case_excerpt(c, {finding}, nullptr, {}), R"(         cache static
         slots 4096
      1  prefill 0 1
      2  decode
      3  decode
      4  decode
         ... 97 more ops
    102  capture g
         ... 92 more ops
    195  decode
    196  decode
    197  decode
    198  decode
    199  decode
    200  decode
    201  decode
    202  decode
  > 203  replay g      <- slots, step 1
         ... 2 more ops
)");
}

TEST(CaseExcerpt, of_a_million_ops_stays_a_page) {
  Case c;
  c.settings.slots = 4096;
  c.ops.resize(1'000'000);
  const Finding finding{.kind = FindingKind::length,
                        .op = 500'000,
                        .step = 0,
                        .place = "",
                        .expected = "",
                        .found = ""};
  const std::string text = case_excerpt(c, {finding}, nullptr, {});
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 25);
}

TEST(ResultLine, says_the_outcome_and_what_each_run_came_to) {
  CaseResult result;
  result.runs = {{.verdict = with_findings()}, {.verdict = {.cache = "static"}}};
  result.outcome = CaseResult::Outcome::failed;
  EXPECT_EQ(result_line("a.kv", result, false, {}),
            "FAILED      a.kv  counter:host_int: length@2 slots@3.2, static: clean\n");
  result.runs[1].verdict.status = Verdict::Status::incomplete;
  result.runs[1].verdict.incomplete_because = "the case needs the device cuda";
  result.runs.erase(result.runs.begin());
  result.outcome = CaseResult::Outcome::incomplete;
  EXPECT_EQ(result_line("a.kv", result, false, {}),
            "incomplete  a.kv  static: the case needs the device cuda\n");
}

TEST(BrokenExpectations, tell_what_was_there_instead) {
  CaseResult result;
  result.runs = {{.verdict = with_findings()}};
  result.runs[0].verdict.covered = {"length", "slots"};
  result.runs[0].verdict.not_covered = {{"liveness", "the device does not tell"}};
  const auto expect = [&](std::optional<FindingKind> kind, int64_t op, Held held) {
    result.expects.push_back(
        {.expect = {.cache = "", .kind = kind, .op = op, .step = 0}, .run = 0, .held = held});
  };
  expect(FindingKind::slots, 3, Held::yes);
  expect(FindingKind::slots, 2, Held::no);
  expect(FindingKind::outputs, 0, Held::no);
  expect({}, 0, Held::no);
  expect(FindingKind::liveness, 0, Held::unknown);
  expect(FindingKind::freeze, 0, Held::unknown);
  EXPECT_EQ(broken_expectations(result, {}),
            R"(  expect slots@2: does not hold on counter:host_int: the first is slots@3.2
  expect outputs: does not hold on counter:host_int: no finding of this kind; length@2 slots@3.2
  expect clean: does not hold on counter:host_int: length@2 slots@3.2
  expect liveness: not judged on counter:host_int: the device does not tell
  expect freeze: not judged on counter:host_int: no oracle judges this kind
)");
}

TEST(Coverage, names_who_judged_and_who_could_not_with_the_reason) {
  Verdict verdict{.cache = "static", .device = "cuda"};
  verdict.covered = {"slots", "length"};
  verdict.not_covered = {{"liveness", "the device does not tell which memory was freed"}};
  EXPECT_EQ(coverage(verdict, {}),
            "  judged on cuda by slots, length\n"
            "  not judged: liveness: the device does not tell which memory was freed\n");
}

}  // namespace
}  // namespace thaw
