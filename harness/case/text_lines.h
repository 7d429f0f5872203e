// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "case/case.h"

namespace thaw {

/// A word of a line: everything between blanks. Columns count bytes, from 1.
struct Word {
  std::string_view text;
  int64_t column = 0;
  /// The column behind its last byte.
  int64_t end() const { return column + static_cast<int64_t>(text.size()); }
};

/// Cuts a text into lines, words and comments. It checks what a text is made of (UTF-8, LF or
/// CRLF, no control characters but tabs, bounded lines) and knows nothing of what words mean.
class TextLines {
 public:
  /// Both must outlive this object. Throws CaseError for a text that is too large.
  TextLines(std::string_view text, std::string_view file);

  /// Reads the next line, false at the end. Throws CaseError for bytes that no case may hold.
  bool next();

  /// Of the line that was read last. A line of blanks has neither words nor a comment.
  int64_t number() const { return number_; }
  std::span<const Word> words() const { return words_; }
  /// Without '#', the blank behind it and the blanks at its end.
  std::optional<std::string_view> comment() const { return comment_; }

 private:
  std::string_view cut_line();
  void check_bytes(std::string_view line) const;
  void cut_words(std::string_view line);
  void take_comment(std::string_view line, size_t begin);

  std::string_view rest_;
  std::string_view file_;
  int64_t number_ = 0;
  std::vector<Word> words_;
  std::optional<std::string_view> comment_;
};

/// The length of the UTF-8 sequence at the front of `text`, which is not empty; 0: not UTF-8.
size_t utf8_sequence_length(std::string_view text);

/// A word as messages show it, cut where it is very long; `quoted` puts it in quotes.
std::string shortened(std::string_view word);
std::string quoted(std::string_view word);

}  // namespace thaw
