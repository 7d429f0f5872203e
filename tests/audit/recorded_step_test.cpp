// SPDX-License-Identifier: Apache-2.0
#include "audit/recorded_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace thaw {
namespace {

RecordedStep step_of(const std::string& operations) {
  RecordedStep step;
  for (const char operation : operations) step.push_back({std::string(1, operation), {}, {}});
  return step;
}

using Pairs = std::vector<std::pair<size_t, size_t>>;

TEST(Corresponding, equal_steps_correspond_node_by_node) {
  EXPECT_EQ(corresponding(step_of("abab"), step_of("abab")),
            (Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
}

TEST(Corresponding, a_node_that_comes_or_goes_leaves_the_others_in_correspondence) {
  EXPECT_EQ(corresponding(step_of("abc"), step_of("axbc")), (Pairs{{0, 0}, {1, 2}, {2, 3}}));
  EXPECT_EQ(corresponding(step_of("axbc"), step_of("abc")), (Pairs{{0, 0}, {2, 1}, {3, 2}}));
  EXPECT_EQ(corresponding(step_of("ab"), step_of("")), Pairs{});
}

/// The slow twin: the longest of all common subsequences, tried one by one.
size_t longest_of_all(const std::string& a, const std::string& b) {
  size_t longest = 0;
  for (unsigned chosen = 0; chosen < (1U << a.size()); ++chosen) {
    size_t at = 0, length = 0;
    bool fits = true;
    for (size_t i = 0; i < a.size() && fits; ++i) {
      if ((chosen >> i & 1U) == 0) continue;
      at = b.find(a[i], at);
      fits = at++ != std::string::npos;
      ++length;
    }
    if (fits) longest = std::max(longest, length);
  }
  return longest;
}

TEST(Corresponding, is_as_long_as_the_longest_of_all_common_subsequences) {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string text(random() % 9, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 300; ++i) {
    const std::string a = word(), b = word();
    const Pairs pairs = corresponding(step_of(a), step_of(b));
    EXPECT_EQ(pairs.size(), longest_of_all(a, b)) << a << " " << b;
    for (size_t k = 0; k < pairs.size(); ++k) {
      EXPECT_EQ(a[pairs[k].first], b[pairs[k].second]);
      if (k > 0)
        EXPECT_TRUE(pairs[k - 1].first < pairs[k].first && pairs[k - 1].second < pairs[k].second);
    }
  }
}

}  // namespace
}  // namespace thaw
