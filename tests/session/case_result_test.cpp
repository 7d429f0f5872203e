// SPDX-License-Identifier: Apache-2.0
//
// What a case's expects come to (section 5 of the language), on the simulated device.

#include "session/case_result.h"

#include <gtest/gtest.h>

#include <string>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "ledger/validate.h"

namespace thaw {
namespace {

using Outcome = CaseResult::Outcome;

const std::string frozen =
    "thaw case 1\ncache counter:host_int\nprefill 0 5\ncapture g\nreplay g x3\n";

Case parse(const std::string& text) {
  Case c = parse_case(text, "case");
  validate_case(c, "case");
  return c;
}

CaseResult result_of(const std::string& text, const RunOptions& options = {}) {
  SimDevice device;
  return run_with_expects(parse(text), device, Registry::standard(), options);
}

TEST(CaseResult, without_expects_findings_decide) {
  EXPECT_EQ(result_of(frozen).outcome, Outcome::failed);
  EXPECT_EQ(result_of("thaw case 1\nprefill 0 5\n").outcome, Outcome::ok);
}

TEST(CaseResult, runs_the_own_cache_first_and_every_named_one_once) {
  const CaseResult result =
      result_of(frozen +
                "expect static clean\nexpect counter slots\nexpect counter:cpu_scalar slots\n"
                "expect static clean\nexpect purity\n");
  ASSERT_EQ(result.runs.size(), 3U);
  EXPECT_EQ(result.runs[0].verdict.cache, "counter:host_int");
  EXPECT_EQ(result.runs[1].verdict.cache, "static");
  EXPECT_EQ(result.runs[2].verdict.cache, "counter:cpu_scalar");
  ASSERT_EQ(result.expects.size(), 5U);
  for (const ExpectResult& expect : result.expects) {
    if (expect.expect.cache == "counter") {
      EXPECT_EQ(expect.run, 0U) << "short for counter:host_int";
    }
  }
  EXPECT_EQ(result.outcome, Outcome::ok);
}

TEST(CaseResult, one_expect_that_does_not_hold_fails_the_case) {
  EXPECT_EQ(result_of(frozen + "expect slots@3.2\n").outcome, Outcome::ok);
  const CaseResult wrong_step = result_of(frozen + "expect slots@3.2\nexpect slots@3.1\n");
  EXPECT_EQ(wrong_step.outcome, Outcome::failed);
  EXPECT_EQ(wrong_step.expects[0].held, Held::yes);
  EXPECT_EQ(wrong_step.expects[1].held, Held::no);
  EXPECT_EQ(result_of(frozen + "expect clean\n").outcome, Outcome::failed);
  EXPECT_EQ(result_of(frozen + "expect static slots\n").outcome, Outcome::failed);
}

TEST(CaseResult, with_a_cache_only_the_expects_that_speak_of_it_count) {
  const std::string text = frozen + "expect slots@3.1\nexpect static clean\n";
  const CaseResult named = result_of(text, {.cache = "static"});
  EXPECT_EQ(named.outcome, Outcome::ok);
  EXPECT_EQ(named.runs.size(), 1U);
  EXPECT_EQ(named.expects.size(), 1U);
  const CaseResult own = result_of(text, {.cache = "counter"});
  EXPECT_EQ(own.outcome, Outcome::failed);
  EXPECT_EQ(own.expects.size(), 1U);
  const CaseResult other = result_of(text, {.cache = "counter:cpu_scalar"});
  EXPECT_EQ(other.outcome, Outcome::failed) << "nothing speaks of it, so its findings decide";
  EXPECT_TRUE(other.expects.empty());
}

TEST(CaseResult, what_cannot_be_judged_is_unknown_and_never_ok) {
  const CaseResult device = result_of("thaw case 1\ndevice cuda\nprefill 0 5\nexpect clean\n");
  EXPECT_EQ(device.outcome, Outcome::incomplete);
  EXPECT_EQ(device.expects[0].held, Held::unknown);
  const CaseResult kind = result_of("thaw case 1\nprefill 0 5\nexpect freeze\nexpect clean\n");
  EXPECT_EQ(kind.outcome, Outcome::incomplete);
  EXPECT_EQ(kind.expects[0].held, Held::unknown);
  EXPECT_EQ(kind.expects[1].held, Held::yes);
}

TEST(CaseResult, what_failed_for_sure_outweighs_what_is_unknown) {
  const CaseResult result = result_of("thaw case 1\nprefill 0 5\nexpect freeze\nexpect slots\n");
  EXPECT_EQ(result.outcome, Outcome::failed);
}

TEST(CaseResult, errors_and_refusals_that_did_not_happen_are_judged_and_missed) {
  EXPECT_EQ(result_of("thaw case 1\nprefill 0 5\nexpect refusal\n").outcome, Outcome::failed);
  EXPECT_EQ(result_of("thaw case 1\nprefill 0 5\nexpect error\n").outcome, Outcome::failed);
}

TEST(CaseResult, a_cache_that_is_not_registered_is_found_before_anything_runs) {
  const Registry registry = Registry::standard();
  EXPECT_FALSE(find_unknown_cache(parse(frozen + "expect static clean\n"), registry));
  const auto own = find_unknown_cache(parse("thaw case 1\ncache statik\nprefill 0 1\n"), registry);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->expect, nullptr);
  EXPECT_NE(own->message.find("did you mean 'static'?"), std::string::npos) << own->message;
  const Case c = parse(frozen + "expect slots\nexpect statik clean\n");
  const auto named = find_unknown_cache(c, registry);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->expect, &c.expects[1]);
}

TEST(CaseResult, without_its_own_cache_a_case_still_runs_on_the_one_that_was_asked_for) {
  const std::string text = "thaw case 1\ncache zoo:nowhere\nprefill 0 3\n";
  EXPECT_EQ(result_of(text, {.cache = "static"}).outcome, Outcome::ok);
  EXPECT_THROW(result_of(text), UnknownCache);
}

TEST(KernelsName, is_what_it_parses_to) {
  for (const Kernels kernels : {Kernels::registered, Kernels::torch}) {
    EXPECT_EQ(parse_kernels(to_string(kernels)), kernels);
  }
  EXPECT_FALSE(parse_kernels("Torch"));
}

}  // namespace
}  // namespace thaw
