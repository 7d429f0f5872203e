// SPDX-License-Identifier: Apache-2.0
// What a text may be made of, and how large a case may be.
#include <gtest/gtest.h>

#include <string>

#include "case/case_text.h"
#include "case/op_table.h"
#include "case/text_lines.h"

namespace thaw {
namespace {

std::string error_of(std::string_view text) {
  try {
    parse_case(text, "a.kv");
  } catch (const CaseError& error) {
    return error.what();
  }
  return "";
}

std::string repeated(std::string_view piece, size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

TEST(TextLimits, control_characters_are_refused_wherever_they_stand) {
  using namespace std::string_literals;
  EXPECT_EQ(error_of("thaw case 1\ndecode\0\n"s),
            "a.kv:2:7: control character 0x00; a case is text; remove it");
  EXPECT_EQ(error_of("thaw case 1\0\n"s),
            "a.kv:1:12: control character 0x00; a case is text; remove it");
  EXPECT_EQ(error_of("thaw case 1\n# \x1B[31mred\n"),
            "a.kv:2:3: control character 0x1B; a case is text; remove it");
  EXPECT_EQ(error_of("thaw case 1\rdecode\n"),
            "a.kv:1:12: control character 0x0D; a case is text; remove it");
  EXPECT_EQ(error_of("thaw case 1\n# a\rb\n"),
            "a.kv:2:4: control character 0x0D; a case is text; remove it");
  EXPECT_EQ(error_of("thaw case 1\n# a\x7F\n"),
            "a.kv:2:4: control character 0x7F; a case is text; remove it");
}

TEST(TextLimits, bytes_that_are_not_UTF8_are_refused) {
  EXPECT_EQ(error_of("thaw case 1\n# caf\xE9\n"),
            "a.kv:2:6: byte 0xE9 is not UTF-8; a case is UTF-8; save it so");
}

TEST(TextLimits, UTF8_is_what_the_Unicode_standard_says) {
  struct Sequence {
    std::string_view bytes;
    size_t length;
  };
  constexpr Sequence sequences[] = {
      {"a", 1},
      {"\xC2\x80", 2},
      {"\xDF\xBF", 2},
      {"\xE0\xA0\x80", 3},
      {"\xED\x9F\xBF", 3},
      {"\xEF\xBF\xBD", 3},
      {"\xF0\x90\x80\x80", 4},
      {"\xF4\x8F\xBF\xBF", 4},
      {"\x80", 0},              // a continuation alone
      {"\xC0\x80", 0},          // overlong
      {"\xC1\xBF", 0},          // overlong
      {"\xE0\x9F\xBF", 0},      // overlong
      {"\xF0\x8F\xBF\xBF", 0},  // overlong
      {"\xED\xA0\x80", 0},      // a surrogate
      {"\xF4\x90\x80\x80", 0},  // past U+10FFFF
      {"\xF5\x80\x80\x80", 0},  // past U+10FFFF
      {"\xC2", 0},              // cut
      {"\xE2\x82", 0},          // cut
      {"\xF0\x9F\x99", 0},      // cut
      {"\xE2\x28\xA1", 0},      // no continuation
      {"\xF0\x9F\x99\x28", 0},  // no continuation
      {"\xFF", 0},
  };
  for (const Sequence& sequence : sequences) {
    EXPECT_EQ(utf8_sequence_length(sequence.bytes), sequence.length)
        << testing::PrintToString(std::string(sequence.bytes));
  }
}

TEST(TextLimits, a_line_has_at_most_8192_bytes_and_a_comment_4096) {
  const std::string header = "thaw case 1\n";
  EXPECT_EQ(error_of(header + "decode" + std::string(8186, ' ')), "");
  EXPECT_EQ(error_of(header + "decode" + std::string(8187, ' ')),
            "a.kv:2:8193: the line has 8193 bytes; a line has at most 8192; cut it");
  EXPECT_EQ(error_of(header + "decode # " + std::string(4096, 'x')), "");
  EXPECT_EQ(error_of(header + "decode # " + std::string(4097, 'x')),
            "a.kv:2:8: the comment has 4097 bytes; a comment has at most 4096; cut it");
}

TEST(TextLimits, a_text_has_at_most_64_MiB) {
  EXPECT_EQ(error_of(std::string((size_t{64} << 20) + 1, 'x')),
            "a.kv:1:1: the text has 67108865 bytes; a case has at most 67108864 (64 MiB); cut it");
  const std::string header = "thaw case 1\n";
  std::string blank_line(8192, ' ');
  blank_line.back() = '\n';
  std::string largest = header + repeated(blank_line, 8192);
  largest.resize(size_t{64} << 20);
  EXPECT_EQ(error_of(largest), "");
}

TEST(CaseLimits, a_case_has_at_most_a_million_ops) {
  // The line tells that the million before it were taken.
  EXPECT_EQ(error_of("thaw case 1\n" + repeated("drop g\n", 1'000'001)),
            "a.kv:1000002:1: the case has more than 1000000 ops; cut it");
}

TEST(CaseLimits, a_case_has_at_most_ten_million_steps) {
  // Captures make no steps, prefills one.
  const std::string most = "thaw case 1\ncapture g\nprefill 0 4096\n" +
                           repeated("replay g x1000000\n", 9) + "decode x999999\n";
  EXPECT_EQ(error_of(most), "");
  EXPECT_EQ(error_of(most + "warmup\n"),
            "a.kv:14:1: the case has 10000001 steps up to here; a case has at most 10000000; cut "
            "it");
}

}  // namespace
}  // namespace thaw
