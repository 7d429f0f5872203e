// SPDX-License-Identifier: Apache-2.0
//
// thaw run --json: fits its schema, and says what the text says.

#include <gtest/gtest.h>

#include <string>

#include "cli/cases.h"
#include "cli/program.h"
#include "cli/schema.h"

namespace thaw {
namespace {

using nlohmann::json;

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Everything that can happen to a case, in one document.
json everything(const std::vector<std::string>& flags = {}) {
  const Sandbox box;
  box.write("clean.kv", clean_case);
  box.write("frozen.kv", frozen_case);
  box.write("expected.kv", expected_case);
  box.write("disappointed.kv", disappointed_case);
  box.write("cuda.kv", needs_cuda_case);
  box.write("broken.kv", broken_case);
  std::vector<std::string> arguments = {"run",         "clean.kv",        "frozen.kv",
                                        "expected.kv", "disappointed.kv", "cuda.kv",
                                        "broken.kv",   "missing\xff.kv",  "--json"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  const Finished run = box.run(arguments);
  EXPECT_EQ(run.status, 2);
  return json::parse(run.out);
}

/// The same, made once for all tests that only read it.
const json& document() {
  static const json made = everything();
  return made;
}

TEST(JsonReport, fits_its_schema_whatever_happens_to_the_cases) {
  EXPECT_EQ(joined(schema_errors(document(), "verdict.schema.json#")), "");
}

TEST(JsonReport, carries_outcomes_verdicts_and_expectations) {
  const json& cases = document()["cases"];
  const std::vector<std::string> outcomes = {"ok",         "failed",    "ok",       "failed",
                                             "incomplete", "bad_input", "bad_input"};
  ASSERT_EQ(cases.size(), outcomes.size());
  for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_EQ(cases[i]["outcome"], outcomes[i]);
  EXPECT_EQ(cases[0]["case"], clean_case);
  EXPECT_EQ(cases[0]["runs"][0]["counts"],
            json({{"ops", 3}, {"steps", 4}, {"captures", 1}, {"replays", 3}}));
  EXPECT_EQ(cases[1]["runs"][0]["findings"][0]["kind"], "purity");
  EXPECT_EQ(cases[2]["runs"][1]["cache"], "static");
  EXPECT_EQ(cases[2]["expectations"][1],
            json({{"expect", "static clean"}, {"cache", "static"}, {"holds", true}}));
  EXPECT_EQ(cases[3]["expectations"][0]["holds"], false);
  EXPECT_EQ(cases[3]["expectations"][1]["holds"], nullptr) << "nobody judges freeze";
  EXPECT_EQ(cases[4]["runs"][0]["incomplete_because"], "the case needs the device cuda");
  EXPECT_EQ(cases[6]["file"], "missing\xef\xbf\xbd.kv");
  EXPECT_EQ(document()["summary"]["exit_status"], 2);
}

TEST(JsonReport, has_no_wall_times_unless_they_are_asked_for) {
  const json timed = everything({"--timings"});
  EXPECT_EQ(joined(schema_errors(timed, "verdict.schema.json#")), "");
  EXPECT_GT(timed["cases"][0]["runs"][0]["seconds"], 0.0);
  EXPECT_EQ(document().dump(), everything().dump());
}

TEST(JsonReport, says_how_its_runs_were_made) {
  Sandbox box;
  box.write("clean.kv", clean_case);
  const Finished run =
      box.run({"run", "clean.kv", "--json", "--kernels", "torch", "--leave-freed-memory"});
  const json verdict = json::parse(run.out)["cases"][0]["runs"][0];
  EXPECT_EQ(verdict["kernels"], "torch");
  EXPECT_EQ(verdict["freed_memory"], "left");
  EXPECT_EQ(verdict["status"], "clean");
}

TEST(SchemaCheck, objects_to_what_the_schema_forbids) {
  const json& good = document();
  const auto objects_to = [](const json& document) {
    return !schema_errors(document, "verdict.schema.json#").empty();
  };
  ASSERT_FALSE(objects_to(good));
  json bad = good;
  bad["version"] = 2;
  EXPECT_TRUE(objects_to(bad));
  bad = good;
  bad.erase("summary");
  EXPECT_TRUE(objects_to(bad));
  bad = good;
  bad["surplus"] = 1;
  EXPECT_TRUE(objects_to(bad));
  bad = good;
  bad["cases"][1]["runs"][0]["findings"][0]["op"] = "two";
  EXPECT_TRUE(objects_to(bad));
  bad = good;
  bad["cases"][1]["runs"][0]["findings"][0]["op"] = 0;
  EXPECT_TRUE(objects_to(bad));
  bad = good;
  bad["cases"][1]["runs"][0]["findings"][0]["kind"] = "slot";
  EXPECT_TRUE(objects_to(bad));
}

}  // namespace
}  // namespace thaw
