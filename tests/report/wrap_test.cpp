// SPDX-License-Identifier: Apache-2.0
#include "report/wrap.h"

#include <gtest/gtest.h>

namespace thaw {
namespace {

TEST(Wrap, breaks_between_words_at_the_width) {
  EXPECT_EQ(wrap("one two three", "", 7), "one two\nthree\n");
  EXPECT_EQ(wrap("one two three", "", 6), "one\ntwo\nthree\n");
  EXPECT_EQ(wrap("one two three", "  ", 9), "  one two\n  three\n");
}

TEST(Wrap, a_word_longer_than_the_line_stays_whole) {
  EXPECT_EQ(wrap("a incomprehensibilities b", "", 5), "a\nincomprehensibilities\nb\n");
}

TEST(Wrap, blanks_in_a_row_are_one_and_line_breaks_stay) {
  EXPECT_EQ(wrap("  a   b \nc\n", "- ", 80), "- a b\n- c\n");
}

TEST(Wrap, nothing_is_nothing) { EXPECT_EQ(wrap("", "  ", 80), ""); }

TEST(Wrap, characters_of_several_bytes_take_one_column) {
  EXPECT_EQ(wrap("\xc3\xa4\xc3\xb6 \xc3\xbc", "", 4), "\xc3\xa4\xc3\xb6 \xc3\xbc\n");
}

TEST(WrapLabelled, puts_the_label_before_the_first_line_only) {
  EXPECT_EQ(wrap_labelled("why", "one two three", "       ", 14), "  why  one two\n       three\n");
}

}  // namespace
}  // namespace thaw
