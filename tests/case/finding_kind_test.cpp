// SPDX-License-Identifier: Apache-2.0
#include "case/finding_kind.h"

#include <gtest/gtest.h>

#include <string>

namespace thaw {
namespace {

TEST(FindingKinds, rule_R23_names_them_in_the_order_in_which_one_step_reports_them) {
  std::string names;
  for (const FindingKindRow& row : finding_kinds()) names += std::string(row.name) + " ";
  EXPECT_EQ(names,
            "error refusal liveness addresses canary purity slots length outputs determinism "
            "freeze permutation fresh ");
}

TEST(FindingKinds, names_and_kinds_are_inverse) {
  for (const FindingKindRow& row : finding_kinds()) {
    EXPECT_EQ(to_string(row.kind), row.name);
    EXPECT_EQ(parse_finding_kind(row.name), row.kind);
    EXPECT_FALSE(row.objects_when.empty());
  }
  EXPECT_EQ(parse_finding_kind("clean"), std::nullopt);
  EXPECT_EQ(parse_finding_kind(""), std::nullopt);
  EXPECT_EQ(parse_finding_kind("slot"), std::nullopt);
}

TEST(FindingKinds, the_list_for_messages_has_each_of_them_once) {
  const std::string list = ", " + finding_kind_list() + ",";
  size_t commas = 0;
  for (const char c : list) commas += c == ',' ? 1 : 0;
  EXPECT_EQ(commas, finding_kinds().size() + 1);
  for (const FindingKindRow& row : finding_kinds()) {
    EXPECT_NE(list.find(", " + std::string(row.name) + ","), std::string::npos) << row.name;
  }
}

}  // namespace
}  // namespace thaw
