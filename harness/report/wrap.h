// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace thaw {

/// `text` as lines of at most `width` columns, each behind `indent` and ended by a newline. Breaks
/// at blanks and where `text` has line breaks; a word longer than a line stays whole.
std::string wrap(std::string_view text, std::string_view indent, int width);

/// The same, with `label` at column 2 of the first line; `indent` is wider than that.
///   cause     a buffer was rebound to a new tensor; the graph goes on
///             with the old one
std::string wrap_labelled(std::string_view label, std::string_view text, std::string_view indent,
                          int width);

}  // namespace thaw
