// SPDX-License-Identifier: Apache-2.0
// Normal form: what print_case writes, and that reading it gives the case back.
#include <gtest/gtest.h>

#include "case/case_text.h"

namespace thaw {
namespace {

Case parse(std::string_view text) { return parse_case(text, "a.kv"); }

std::string normal_form(std::string_view text) { return print_case(parse(text)); }

TEST(NormalForm, puts_settings_ops_and_expects_in_order_with_one_blank_between_words) {
  EXPECT_EQ(normal_form("thaw  case\t1\r\n"
                        "expect static clean\r\n"
                        "slots   8\r\n"
                        "\r\n"
                        "expect slots@2.3\r\n"
                        "cache counter:host_int\r\n"
                        "prefill  all\t5\r\n"
                        "\tdecode x3   q=2\r\n"
                        "expect purity@1"),
            "thaw case 1\n"
            "cache counter:host_int\n"
            "slots 8\n"
            "prefill all 5\n"
            "decode q=2 x3\n"
            "expect slots@2.3\n"
            "expect purity@1\n"
            "expect static clean\n");
}

TEST(NormalForm, leaves_out_defaults) {
  EXPECT_EQ(normal_form("thaw case 1\n"
                        "cache static\ndecoder tag\ndevice any\nlayers 1\nheads 2\nkv_heads 1\n"
                        "dim 16\nrows 1\nslots 16\ndtype fp32\nseed 1\n"
                        "decode q=1 x1\n"),
            "thaw case 1\ndecode\n");
}

TEST(NormalForm, keeps_a_default_that_has_a_comment) {
  const std::string text =
      "thaw case 1\n"
      "cache counter:cpu_scalar\n"
      "# enough for the prompt\n"
      "slots 16\n"
      "seed 1 # any will do\n"
      "prefill 0 5\n";
  EXPECT_EQ(normal_form(text), text);
}

TEST(NormalForm, never_merges_or_splits_ops_because_that_would_move_op_numbers) {
  const std::string text = "thaw case 1\nprefill 0 2\nprefill 0 3\ndecode\ndecode\ndecode x2\n";
  EXPECT_EQ(normal_form(text), text);
}

TEST(NormalForm, ends_in_exactly_one_line_feed) {
  EXPECT_EQ(normal_form("thaw case 1"), "thaw case 1\n");
  EXPECT_EQ(normal_form("thaw case 1\n\n\n"), "thaw case 1\n");
}

TEST(NormalForm, keeps_all_as_it_was_written) {
  EXPECT_EQ(normal_form("thaw case 1\nprefill all 5\n"), "thaw case 1\nprefill all 5\n");
  EXPECT_EQ(normal_form("thaw case 1\nprefill 0 5\n"), "thaw case 1\nprefill 0 5\n");
}

TEST(NormalForm, comments_move_with_their_line) {
  EXPECT_EQ(normal_form("thaw case 1 # beside the header\n"
                        "# above the first setting\n"
                        "slots 8 # tight\n"
                        "# the frozen one\n"
                        "cache counter:host_int\n"
                        "# other cache\n"
                        "expect static clean # as it must\n"
                        "# above the op\n"
                        "prefill 0 5 #beside the op\n"
                        "# own\n"
                        "expect slots\n"
                        "#\n"
                        "#the end\n"),
            "thaw case 1\n"
            "# beside the header\n"
            "# above the first setting\n"
            "# the frozen one\n"
            "cache counter:host_int\n"
            "slots 8 # tight\n"
            "# above the op\n"
            "prefill 0 5 # beside the op\n"
            "# own\n"
            "expect slots\n"
            "# other cache\n"
            "expect static clean # as it must\n"
            "#\n"
            "# the end\n");
}

TEST(NormalForm, prints_every_form_of_op_and_expect) {
  const std::string text =
      "thaw case 1\n"
      "rows 3\n"
      "prefill all 5\n"
      "load 2 16\n"
      "decode q=4 x3\n"
      "serve q=2 x3\n"
      "warmup q=2 rows=1 x3\n"
      "capture g q=3 rows=2 pool=p\n"
      "capture h pool=g\n"
      "replay g x1000000\n"
      "drop g\n"
      "reset all\n"
      "crop 1 0\n"
      "reorder 2 0 2\n"
      "copy 1 2\n"
      "park all\n"
      "unpark 0\n"
      "hold\n"
      "churn 0\n"
      "sleep\n"
      "reseed 7\n"
      "fail capture\n"
      "fail replay\n"
      "expect clean\n"
      "expect length@3\n"
      "expect outputs@3.2\n"
      "expect zoo:late clean\n"
      "expect static freeze\n";
  EXPECT_EQ(normal_form(text), text);
}

TEST(NormalForm, print_op_and_print_expect_write_what_a_line_says_without_its_comments) {
  EXPECT_EQ(print_op({.kind = OpKind::decode, .q = 2, .times = 3}), "decode q=2 x3");
  EXPECT_EQ(print_op({.kind = OpKind::prefill, .row = all_rows, .count = 5}), "prefill all 5");
  EXPECT_EQ(print_expect({.cache = "static"}), "static clean");
  EXPECT_EQ(print_expect({.kind = FindingKind::slots, .op = 3, .step = 2}), "slots@3.2");
}

/// Texts in which it is easy to give a comment to the wrong line.
constexpr std::string_view tricky[] = {
    "thaw case 1",
    "thaw case 1\n# alone\n",
    "thaw case 1 # beside\n",
    "thaw case 1\n# a\nslots 16\n# b\n",
    "thaw case 1\n# a\nslots 16\n# b\nprefill 0 5\n",
    "thaw case 1\n# a\nslots 16 # c\n# b\nprefill 0 5\n",
    "thaw case 1\n# a\nseed 2\n# b\ncache counter\n# c\nrows 1\n# d\ndecode\n",
    "thaw case 1\n# a\nseed 1\n# b\nrows 1\n# c\ncache static\n# d\ndecode\n",
    "thaw case 1\n# a\nexpect clean\n# b\nslots 8\n# c\n",
    "thaw case 1\n# a\nexpect static clean\n# b\nexpect clean\n# c\n",
    "thaw case 1\n# a\nexpect static clean\n# b\nslots 16\n# c\nexpect clean\n# d\n",
    "thaw case 1\n# a\nexpect clean\n# b\ndecode\n# c\n",
    "thaw case 1\n#\n# \n#  \n#\t\ndecode #\n",
    "thaw case 1\n#a\n##b\n# #c\ndecode ## d\n",
};

TEST(NormalForm, reading_it_gives_the_same_case_and_printing_that_the_same_text) {
  for (const std::string_view text : tricky) {
    const Case c = parse(text);
    const std::string printed = print_case(c);
    EXPECT_EQ(parse(printed), c) << text << "\nprinted as\n" << printed;
    EXPECT_EQ(print_case(parse(printed)), printed) << text;
  }
}

TEST(NormalForm, a_comment_of_the_largest_size_survives) {
  const std::string text = "thaw case 1\ndecode #" + std::string(4096, 'x');
  EXPECT_EQ(parse(normal_form(text)), parse(text));
}

}  // namespace
}  // namespace thaw
