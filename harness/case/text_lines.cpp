// SPDX-License-Identifier: Apache-2.0
#include "case/text_lines.h"

#include <fmt/format.h>

#include "case/case_text.h"
#include "case/op_table.h"

namespace thaw {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_plain(char c) { return (c >= ' ' && c <= '~') || c == '\t'; }

uint8_t byte_at(std::string_view text, size_t index) { return static_cast<uint8_t>(text[index]); }

}  // namespace

size_t utf8_sequence_length(std::string_view text) {
  const uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  // The second byte is restricted for leads that would otherwise allow overlong forms, surrogates
  // and code points past U+10FFFF (Unicode standard, table 3-7).
  uint8_t least = 0x80;
  uint8_t most = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte_at(text, 1) < least || byte_at(text, 1) > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::string shortened(std::string_view word) {
  constexpr size_t shown_max = 40;
  if (word.size() <= shown_max) return std::string(word);
  size_t shown = shown_max;
  while (shown > 0 && (byte_at(word, shown) & 0xC0) == 0x80) --shown;
  return std::string(word.substr(0, shown)) + "...";
}

std::string quoted(std::string_view word) { return fmt::format("'{}'", shortened(word)); }

TextLines::TextLines(std::string_view text, std::string_view file) : rest_(text), file_(file) {
  if (text.size() > text_bytes_max) {
    throw CaseError(file, {1, 1},
                    fmt::format("the text has {} bytes; a case has at most {} (64 MiB); cut it",
                                text.size(), text_bytes_max));
  }
}

bool TextLines::next() {
  if (rest_.empty()) return false;
  const std::string_view line = cut_line();
  ++number_;
  words_.clear();
  comment_.reset();
  if (line.size() > line_bytes_max) {
    throw CaseError(file_, {number_, static_cast<int64_t>(line_bytes_max) + 1},
                    fmt::format("the line has {} bytes; a line has at most {}; cut it", line.size(),
                                line_bytes_max));
  }
  check_bytes(line);
  cut_words(line);
  return true;
}

std::string_view TextLines::cut_line() {
  const size_t end = rest_.find('\n');
  std::string_view line = rest_.substr(0, end);
  rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

void TextLines::check_bytes(std::string_view line) const {
  for (size_t i = 0; i < line.size();) {
    if (is_plain(line[i])) {
      ++i;
      continue;
    }
    const uint8_t byte = byte_at(line, i);
    const SourcePosition position{number_, static_cast<int64_t>(i) + 1};
    if (byte < 0x20 || byte == 0x7F) {
      throw CaseError(file_, position,
                      fmt::format("control character 0x{:02X}; a case is text; remove it", byte));
    }
    const size_t length = utf8_sequence_length(line.substr(i));
    if (length == 0) {
      throw CaseError(file_, position,
                      fmt::format("byte 0x{:02X} is not UTF-8; a case is UTF-8; save it so", byte));
    }
    i += length;
  }
}

void TextLines::cut_words(std::string_view line) {
  size_t i = 0;
  while (i < line.size()) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    // Only a '#' at the front of a word begins a comment.
    if (line[i] == '#') {
      take_comment(line, i + 1);
      return;
    }
    const size_t begin = i;
    while (i < line.size() && !is_blank(line[i])) ++i;
    words_.push_back({line.substr(begin, i - begin), static_cast<int64_t>(begin) + 1});
  }
}

void TextLines::take_comment(std::string_view line, size_t begin) {
  std::string_view comment = line.substr(begin);
  if (!comment.empty() && comment.front() == ' ') comment.remove_prefix(1);
  while (!comment.empty() && is_blank(comment.back())) comment.remove_suffix(1);
  if (comment.size() > comment_bytes_max) {
    throw CaseError(file_, {number_, static_cast<int64_t>(begin)},
                    fmt::format("the comment has {} bytes; a comment has at most {}; cut it",
                                comment.size(), comment_bytes_max));
  }
  comment_ = comment;
}

}  // namespace thaw
