// SPDX-License-Identifier: Apache-2.0
//
// The cases of corpus/: readable, valid, in normal form, and complete as far as they promise to be.
// What they make of a cache is tested where sessions run.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "case/case_text.h"
#include "case/op_table.h"
#include "ledger/validate.h"

namespace thaw {
namespace {

using OpPair = std::pair<OpKind, OpKind>;

std::vector<std::filesystem::path> cases_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".kv") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Case case_of(const std::filesystem::path& path) {
  return parse_case(text_of(path), path.filename().string());
}

std::vector<std::filesystem::path> corpus() { return cases_below(THAW_CORPUS); }
std::vector<std::filesystem::path> seeds() { return cases_below(THAW_CORPUS "/seeds"); }

/// The ops that stand next to each other in a case.
std::set<OpPair> neighbours(const Case& c) {
  std::set<OpPair> pairs;
  for (size_t i = 1; i < c.ops.size(); ++i) {
    pairs.emplace(c.ops[i - 1].value.kind, c.ops[i].value.kind);
  }
  return pairs;
}

bool contains_op(const Case& c, OpKind kind) {
  return std::any_of(c.ops.begin(), c.ops.end(),
                     [kind](const Line<Op>& line) { return line.value.kind == kind; });
}

std::string comments_of(const Case& c) {
  std::string text;
  for (const std::string& comment : c.header_comments) text += comment;
  for (const auto& [key, comments] : c.setting_comments) {
    for (const std::string& comment : comments.above) text += comment;
  }
  for (const Line<Op>& line : c.ops) {
    for (const std::string& comment : line.comments.above) text += comment;
  }
  return text;
}

TEST(Corpus, every_case_is_valid_and_in_normal_form) {
  ASSERT_FALSE(corpus().empty());
  for (const auto& path : corpus()) {
    SCOPED_TRACE(path.string());
    ASSERT_NO_THROW(validate_case(case_of(path), path.filename().string()));
    EXPECT_EQ(print_case(case_of(path)), text_of(path));
  }
}

TEST(Corpus, every_case_says_what_it_exercises_and_what_to_expect) {
  for (const auto& path : corpus()) {
    SCOPED_TRACE(path.string());
    const Case c = case_of(path);
    EXPECT_FALSE(comments_of(c).empty());
    EXPECT_FALSE(c.expects.empty());
  }
}

TEST(Corpus, no_two_cases_are_the_same_up_to_names) {
  std::set<std::string> seen;
  for (const auto& path : corpus()) {
    EXPECT_TRUE(seen.insert(canonical_form(case_of(path))).second) << path;
  }
}

TEST(Seeds, are_small_and_clean_on_the_static_cache) {
  for (const auto& path : seeds()) {
    SCOPED_TRACE(path.string());
    const Case c = case_of(path);
    EXPECT_EQ(c.settings.cache, "static");
    EXPECT_LE(c.settings.rows, 3);
    EXPECT_GE(c.settings.slots, 4);
    EXPECT_LE(c.settings.slots, 16);
    EXPECT_LE(c.ops.size(), 16u);
    ASSERT_EQ(c.expects.size(), 1u);
    EXPECT_EQ(c.expects.front().value, Expect{});
  }
}

TEST(Seeds, every_op_has_a_case_of_its_own) {
  for (const OpRow& row : op_rows()) {
    const auto path = std::filesystem::path(THAW_CORPUS "/seeds") / (std::string(row.name) + ".kv");
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    EXPECT_TRUE(contains_op(case_of(path), row.kind)) << path;
  }
}

/// After a sleep all rows are idle, and these need a sequence.
bool can_follow_sleep(OpKind kind) {
  switch (kind) {
    case OpKind::decode:
    case OpKind::serve:
    case OpKind::crop:
    case OpKind::copy:
    case OpKind::park:
    case OpKind::unpark:
      return false;
    default:
      return true;
  }
}

TEST(Seeds, every_ordered_pair_of_ops_that_can_meet_has_a_case_in_which_they_do) {
  for (const OpRow& first : op_rows()) {
    for (const OpRow& second : op_rows()) {
      if (first.kind == OpKind::sleep && !can_follow_sleep(second.kind)) continue;
      const std::string name =
          std::string(first.name) + "_then_" + std::string(second.name) + ".kv";
      const auto path = std::filesystem::path(THAW_CORPUS "/seeds") / name;
      ASSERT_TRUE(std::filesystem::exists(path)) << path;
      EXPECT_EQ(neighbours(case_of(path)).count({first.kind, second.kind}), 1u) << path;
    }
  }
}

}  // namespace
}  // namespace thaw
