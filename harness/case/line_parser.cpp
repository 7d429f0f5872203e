// SPDX-License-Identifier: Apache-2.0
#include "case/line_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "case/case_text.h"
#include "case/suggestions.h"

namespace thaw {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// "0", or digits without a leading zero.
bool is_number(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_digit) &&
         (word.size() == 1 || word.front() != '0');
}

/// "any, sim or cuda".
std::string alternatives(std::span<const std::string_view> choices) {
  std::string text(choices.front());
  for (size_t i = 1; i < choices.size(); ++i) {
    text.append(i + 1 == choices.size() ? " or " : ", ").append(choices[i]);
  }
  return text;
}

int64_t parse_choice(const KeyRow& key, const Word& word, const LinePlace& place) {
  const auto found = std::find(key.choices.begin(), key.choices.end(), word.text);
  if (found != key.choices.end()) return found - key.choices.begin();
  std::string message = fmt::format("{} must be {}, found {}", key.name, alternatives(key.choices),
                                    quoted(word.text));
  const std::string_view nearest = nearest_word(word.text, key.choices);
  if (!nearest.empty()) message += fmt::format("; did you mean '{}'?", nearest);
  place.fail(word.column, message);
}

void check_cache(const Word& word, std::string_view what, const LinePlace& place) {
  if (!is_cache_name(word.text)) {
    place.fail(word.column,
               fmt::format("{}: {} is not the name of a cache; expected NAME or NAME:NAME, in "
                           "lower case ('thaw list caches' shows all)",
                           what, quoted(word.text)));
  }
  if (is_reserved(word.text)) {
    place.fail(word.column, fmt::format("{}: '{}' is a word of the language; no cache is called so",
                                        what, word.text));
  }
}

int64_t parse_place_number(std::string_view digits, int64_t column, std::string_view what,
                           const LinePlace& place) {
  constexpr Bounds bounds{1, ops_max};
  if (const auto number = number_within(digits, bounds)) return *number;
  fail_on_number(digits, column, what, bounds, place);
}

/// The place of an expect: `text` is what follows the '@', in column `column`.
void parse_place(std::string_view text, int64_t column, Expect& expect, const LinePlace& place) {
  const size_t dot = text.find('.');
  expect.op = parse_place_number(text.substr(0, dot), column, "expect: OP", place);
  if (dot == std::string_view::npos) return;
  expect.step = parse_place_number(text.substr(dot + 1), column + static_cast<int64_t>(dot) + 1,
                                   "expect: STEP", place);
}

void parse_kind(const Word& word, Expect& expect, const LinePlace& place) {
  const size_t at = word.text.find('@');
  const std::string_view name = word.text.substr(0, at);
  expect.kind = parse_finding_kind(name);
  if (!expect.kind && name == "clean") {
    if (at == std::string_view::npos) return;
    place.fail(word.column + static_cast<int64_t>(at),
               "expect: 'clean' has no place; expected 'clean' alone, or a kind before the '@'");
  }
  if (!expect.kind) {
    place.fail(word.column, fmt::format("expect: unknown kind {}; one of {}", quoted(name),
                                        finding_kind_list()));
  }
  if (at == std::string_view::npos) return;
  parse_place(word.text.substr(at + 1), word.column + static_cast<int64_t>(at) + 1, expect, place);
}

}  // namespace

void LinePlace::fail(int64_t column, const std::string& message) const {
  throw CaseError(file, {line, column}, message);
}

bool is_name(std::string_view word) {
  return !word.empty() && word.size() <= name_length_max && is_letter(word.front()) &&
         std::all_of(word.begin(), word.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool is_cache_name(std::string_view word) {
  const size_t colon = word.find(':');
  return is_name(word.substr(0, colon)) &&
         (colon == std::string_view::npos || is_name(word.substr(colon + 1)));
}

std::optional<int64_t> number_within(std::string_view digits, Bounds bounds) {
  if (!is_number(digits)) return std::nullopt;
  int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // What does not fit into 64 bits is above every bound.
  if (result.ec != std::errc() || value < bounds.least || value > bounds.most) return std::nullopt;
  return value;
}

void fail_on_number(std::string_view digits, int64_t column, std::string_view what, Bounds bounds,
                    const LinePlace& place, std::string_view hint) {
  const std::string range = bounds.least == bounds.most
                                ? std::to_string(bounds.least)
                                : fmt::format("{} to {}", bounds.least, bounds.most);
  if (digits.empty()) {
    place.fail(column, fmt::format("{} is missing; expected a number, {}", what, range));
  }
  if (is_number(digits)) {
    place.fail(column,
               fmt::format("{} must be {}, found {}{}", what, range, shortened(digits), hint));
  }
  const bool leading_zero = std::all_of(digits.begin(), digits.end(), is_digit);
  place.fail(column, fmt::format("{} must be {}, found {}{}", what, range, quoted(digits),
                                 leading_zero ? "; write it without the zero in front" : ""));
}

void parse_setting(const KeyRow& key, std::span<const Word> words, Settings& settings,
                   const LinePlace& place) {
  if (words.size() == 1) {
    place.fail(words[0].end(),
               fmt::format("{0}: the value is missing; expected '{0} VALUE'", key.name));
  }
  if (words.size() > 2) {
    place.fail(words[2].column, fmt::format("{0}: {1} is one word too many; expected '{0} VALUE'",
                                            key.name, quoted(words[2].text)));
  }
  const Word& value = words[1];
  if (key.is_name()) {
    check_cache(value, key.name, place);
    settings.cache = value.text;
  } else if (!key.choices.empty()) {
    key.set(settings, parse_choice(key, value, place));
  } else {
    // A bound by another setting is checked once all are known; until then the largest holds.
    const Bounds bounds =
        resolved(key.bounds, find_key("rows")->bounds.most, find_key("slots")->bounds.most);
    const auto number = number_within(value.text, bounds);
    if (!number) fail_on_number(value.text, value.column, key.name, bounds, place);
    key.set(settings, *number);
  }
}

Expect parse_expect(std::span<const Word> words, const LinePlace& place) {
  constexpr std::string_view form = "'expect [CACHE] clean' or 'expect [CACHE] KIND[@OP[.STEP]]'";
  if (words.size() == 1) {
    place.fail(words[0].end(),
               fmt::format("expect: a kind or 'clean' is missing; expected {}", form));
  }
  if (words.size() > 3) {
    place.fail(words[3].column, fmt::format("expect: {} is one word too many; expected {}",
                                            quoted(words[3].text), form));
  }
  Expect expect;
  if (words.size() == 3) {
    check_cache(words[1], "expect", place);
    expect.cache = words[1].text;
  }
  parse_kind(words.back(), expect, place);
  return expect;
}

}  // namespace thaw
