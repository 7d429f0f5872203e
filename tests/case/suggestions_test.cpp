// SPDX-License-Identifier: Apache-2.0
#include "case/suggestions.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace thaw {
namespace {

TEST(EditDistance, counts_letters_put_in_taken_out_changed_and_swapped) {
  EXPECT_EQ(edit_distance("crop", "crop"), 0u);
  EXPECT_EQ(edit_distance("row", "rows"), 1u);
  EXPECT_EQ(edit_distance("rows", "row"), 1u);
  EXPECT_EQ(edit_distance("crop", "drop"), 1u);
  EXPECT_EQ(edit_distance("unpakr", "unpark"), 1u);
  EXPECT_EQ(edit_distance("", "rows"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, does_not_see_upper_case) { EXPECT_EQ(edit_distance("DECODE", "decode"), 0u); }

TEST(EditDistance, is_out_of_reach_for_very_long_words) {
  EXPECT_GT(edit_distance(std::string(33, 'a'), std::string(33, 'a')), 1000u);
}

TEST(NearestWord, is_the_first_of_the_nearest_and_never_a_far_one) {
  constexpr std::array<std::string_view, 4> words{"rows", "slots", "seed", "prefill"};
  EXPECT_EQ(nearest_word("row", words), "rows");
  EXPECT_EQ(nearest_word("slot", words), "slots");
  EXPECT_EQ(nearest_word("prefl", words), "");
  EXPECT_EQ(nearest_word("prefiil", words), "prefill");
  EXPECT_EQ(nearest_word("pprefiil", words), "prefill");
  EXPECT_EQ(nearest_word("window", words), "");
  EXPECT_EQ(nearest_word("", words), "");
}

}  // namespace
}  // namespace thaw
