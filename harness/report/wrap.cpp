// SPDX-License-Identifier: Apache-2.0
#include "report/wrap.h"

#include <algorithm>
#include <cstddef>

namespace thaw {
namespace {

/// Columns that UTF-8 text takes: bytes that begin a character.
size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

/// What stands before `separator`; takes both off the front of `text`.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return front;
}

void append_paragraph(std::string& wrapped, std::string_view paragraph, std::string_view indent,
                      size_t width) {
  size_t column = 0;
  while (!paragraph.empty()) {
    const std::string_view word = take_until(paragraph, ' ');
    if (word.empty()) continue;
    if (column > 0 && column + 1 + columns(word) > width) {
      wrapped += '\n';
      column = 0;
    }
    const std::string_view before = column == 0 ? indent : " ";
    wrapped.append(before).append(word);
    column += before.size() + columns(word);
  }
  wrapped += '\n';
}

}  // namespace

std::string wrap(std::string_view text, std::string_view indent, int width) {
  std::string wrapped;
  while (!text.empty()) {
    append_paragraph(wrapped, take_until(text, '\n'), indent, static_cast<size_t>(width));
  }
  return wrapped;
}

std::string wrap_labelled(std::string_view label, std::string_view text, std::string_view indent,
                          int width) {
  constexpr size_t margin = 2;
  return wrap(text, indent, width).replace(margin, label.size(), label);
}

}  // namespace thaw
