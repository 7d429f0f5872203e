// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thaw {

/// The lines of a trace that are not empty, and what can be said about the one at hand.
class TraceLines {
 public:
  /// Both texts must outlive the object.
  TraceLines(std::string_view text, std::string_view file) : rest_(text), file_(file) {}

  /// Goes to the next line; false at the end of the text. Throws TraceError for a line that no
  /// request can need.
  bool next();
  /// Without its line break.
  std::string_view line() const { return line_; }
  int64_t number() const { return number_; }

  /// Throws TraceError with file and line.
  [[noreturn]] void fail(std::string_view what) const;

  /// A length in tokens as it stands in `text`, or a failure that names it.
  int64_t tokens(std::string_view name, std::string_view text) const;

 private:
  std::string_view rest_, file_, line_;
  int64_t number_ = 0;
};

/// The beginning of a text that could hold anything, printable and between quotes.
std::string quoted_bytes(std::string_view text);

}  // namespace thaw
