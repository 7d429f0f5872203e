// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "case/case.h"
#include "case/op_table.h"
#include "case/text_lines.h"

namespace thaw {

/// The line that is being read, for messages about its words.
struct LinePlace {
  std::string_view file;
  int64_t line = 0;
  /// Throws CaseError for this line.
  [[noreturn]] void fail(int64_t column, const std::string& message) const;
};

/// An op, from the words of its line; the first one is its name. Rows and slots are bounded by
/// `settings`. All of these throw CaseError for the first word that is wrong.
Op parse_op(const OpRow& row, std::span<const Word> words, const Settings& settings,
            const LinePlace& place);

/// An expect, from the words of its line; the first one is `expect`.
Expect parse_expect(std::span<const Word> words, const LinePlace& place);

/// Puts a setting into `settings`, from the words of its line; the first one is its key.
void parse_setting(const KeyRow& key, std::span<const Word> words, Settings& settings,
                   const LinePlace& place);

/// A number as it is written, "0" or digits without a leading zero, within bounds; empty if the
/// word is no such number.
std::optional<int64_t> number_within(std::string_view digits, Bounds bounds);

/// Says why `digits`, in `column`, is no number within bounds. `what` is its name, "slots" or
/// "decode: q"; `hint` ends the message for a number that is out of bounds.
[[noreturn]] void fail_on_number(std::string_view digits, int64_t column, std::string_view what,
                                 Bounds bounds, const LinePlace& place, std::string_view hint = {});

/// Whether a word is a lower-case letter, then letters, digits and '_', 32 in all at most.
bool is_name(std::string_view word);

/// A name, or two names with a colon between; what a cache may be called.
bool is_cache_name(std::string_view word);

}  // namespace thaw
