// SPDX-License-Identifier: Apache-2.0
//
// What counts as the same verdict on two devices. Needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/compare/compare.h"

namespace thaw {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Json finding(const char* kind, int64_t op, int64_t step, int64_t code = 0) {
  return {{"kind", kind}, {"op", op},          {"step", step},    {"place", "p"},
          {"code", code}, {"expected", "one"}, {"found", "other"}};
}

Json run(const char* device, std::vector<Json> findings,
         const std::vector<std::string>& blind = {}) {
  Json json = {{"cache", "static"},
               {"device", device},
               {"status", findings.empty() ? "clean" : "findings"},
               {"findings", std::move(findings)}};
  json["not_covered"] = Json::array();
  for (const auto& oracle : blind) {
    json["not_covered"].push_back({{"oracle", oracle}, {"because", "it cannot"}});
  }
  return json;
}

Json document(std::vector<Json> runs) {
  Json of_case = {{"file", "a.kv"}, {"outcome", "ok"}, {"runs", std::move(runs)}};
  Json json;
  json["cases"] = Json::array({std::move(of_case)});
  return json;
}

TEST(CompareVerdicts, clean_on_both_and_equal_findings_are_the_same) {
  const Comparison found = compare_verdicts(
      document({run("sim", {}), run("sim", {finding("slots", 3, 2), finding("length", 2, 1)})}),
      document({run("cuda", {}), run("cuda", {finding("length", 2, 1), finding("slots", 3, 2)})}));
  EXPECT_EQ(found.cases, 1);
  EXPECT_EQ(found.runs, 2);
  EXPECT_EQ(found.same, 2);
  EXPECT_THAT(found.differences, IsEmpty());
  EXPECT_TRUE(found.unseen.empty());
}

TEST(CompareVerdicts, another_op_step_kind_or_error_number_differs) {
  const Json expected = document({run("sim", {finding("refusal", 3, 2, 900)})});
  for (const Json& other : {finding("refusal", 4, 2, 900), finding("refusal", 3, 1, 900),
                            finding("error", 3, 2, 900), finding("refusal", 3, 2, 901)}) {
    EXPECT_EQ(compare_verdicts(expected, document({run("cuda", {other})})).differences.size(), 1u);
  }
  EXPECT_THAT(compare_verdicts(expected, document({run("cuda", {})})).differences,
              ElementsAre("a.kv, static: refusal@3.2 (900) | clean"));
}

TEST(CompareVerdicts, what_one_device_does_not_cover_is_left_out_and_counted) {
  const Comparison found =
      compare_verdicts(document({run("sim", {finding("liveness", 3, 0), finding("slots", 3, 2)})}),
                       document({run("cuda", {finding("slots", 3, 2)}, {"liveness"})}));
  EXPECT_EQ(found.same, 1);
  EXPECT_THAT(found.unseen, ElementsAre(Pair("liveness on cuda: it cannot", 1)));
}

TEST(CompareVerdicts, an_incomplete_run_is_never_the_same) {
  Json incomplete = run("cuda", {});
  incomplete["status"] = "incomplete";
  incomplete["incomplete_because"] = "the case needs the device sim";
  const Comparison found =
      compare_verdicts(document({run("sim", {})}), document({std::move(incomplete)}));
  EXPECT_EQ(found.same, 0);
  EXPECT_THAT(found.unseen, ElementsAre(Pair("on cuda: the case needs the device sim", 1)));
}

TEST(CompareVerdicts, a_case_where_the_harness_failed_differs) {
  Json failed;
  failed["cases"] = Json::array(
      {Json{{"file", "a.kv"}, {"outcome", "harness_failed"}, {"error", "a.kv: it broke"}}});
  EXPECT_THAT(compare_verdicts(document({run("sim", {})}), failed).differences,
              ElementsAre("a.kv: ok | harness_failed: a.kv: it broke"));
}

TEST(CompareVerdicts, documents_of_other_cases_or_of_another_kind_are_refused) {
  Json other = document({run("cuda", {})});
  other["cases"][0]["file"] = "b.kv";
  EXPECT_THROW(compare_verdicts(document({}), other), NotComparable);
  other["cases"].push_back(other["cases"][0]);
  EXPECT_THROW(compare_verdicts(document({}), other), NotComparable);
  EXPECT_THROW(compare_verdicts(Json::object(), Json::array()), NotComparable);
}

}  // namespace
}  // namespace thaw
