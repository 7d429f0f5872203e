// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "case/line_parser.h"

namespace thaw {
namespace {

/// "three" for 3; digits where words would get long.
std::string spelled(int64_t number) {
  constexpr std::array<std::string_view, 13> names{"no",   "one",    "two",   "three", "four",
                                                   "five", "six",    "seven", "eight", "nine",
                                                   "ten",  "eleven", "twelve"};
  return number < static_cast<int64_t>(names.size())
             ? std::string(names[static_cast<size_t>(number)])
             : std::to_string(number);
}

/// Reads one op. Arguments come first, in the order of its form, then modifiers in any order.
class OpParser {
 public:
  OpParser(const OpRow& row, std::span<const Word> words, const Settings& settings,
           const LinePlace& place)
      : row_(row), words_(words), settings_(settings), place_(place) {
    op_.kind = row.kind;
  }

  Op parse() {
    for (const OpArgument& argument : row_.arguments) parse_argument(argument);
    while (next_ < words_.size()) parse_modifier();
    return std::move(op_);
  }

 private:
  [[noreturn]] void fail(int64_t column, const std::string& message) const {
    place_.fail(column, fmt::format("{}: {}", row_.name, message));
  }

  std::string expected_form() const { return fmt::format("expected '{}'", op_form(row_)); }

  const Word& take(std::string_view what) {
    if (next_ == words_.size()) {
      fail(words_.back().end(), fmt::format("{} is missing; {}", what, expected_form()));
    }
    return words_[next_++];
  }

  void parse_argument(const OpArgument& argument) {
    switch (argument.kind) {
      case OpArgumentKind::rows:
        op_.*argument.field = parse_rows(take(argument.word));
        return;
      case OpArgumentKind::row:
        op_.*argument.field = parse_row(take(argument.word), argument.word);
        return;
      case OpArgumentKind::order:
        parse_order(argument);
        return;
      case OpArgumentKind::number:
        op_.*argument.field = parse_count(argument);
        return;
      case OpArgumentKind::graph:
        op_.graph = parse_name(take(argument.word));
        return;
      case OpArgumentKind::choice:
        op_.*argument.field = parse_choice(argument);
        return;
    }
  }

  int64_t parse_rows(const Word& word) const {
    return word.text == "all" ? all_rows : parse_row(word, "row");
  }

  int64_t parse_row(const Word& word, std::string_view what) const {
    const Bounds bounds{0, settings_.rows - 1};
    if (const auto number = number_within(word.text, bounds)) return *number;
    fail_on_number(word.text, word.column, fmt::format("{}: {}", row_.name, what), bounds, place_,
                   hint_of_rows());
  }

  std::string hint_of_rows() const {
    return fmt::format("; the case has {} row{} ('rows' sets how many)", settings_.rows,
                       settings_.rows == 1 ? "" : "s");
  }

  int64_t parse_choice(const OpArgument& argument) {
    const Word& word = take(argument.word);
    const auto found = std::find(argument.choices.begin(), argument.choices.end(), word.text);
    if (found != argument.choices.end()) return found - argument.choices.begin();
    fail(word.column, fmt::format("{} must be {}, found {}", argument.word,
                                  fmt::join(argument.choices, " or "), quoted(word.text)));
  }

  int64_t parse_count(const OpArgument& argument) {
    const Word& word = take(argument.word);
    const bool up_to_slots = argument.bounds.most == slots_of_the_case;
    const Bounds bounds = resolved(argument.bounds, settings_.rows, settings_.slots);
    if (const auto number = number_within(word.text, bounds)) return *number;
    fail_on_number(word.text, word.column, fmt::format("{}: {}", row_.name, argument.word), bounds,
                   place_,
                   up_to_slots ? fmt::format("; a row has {} slot{} ('slots' sets how many)",
                                             settings_.slots, settings_.slots == 1 ? "" : "s")
                               : std::string());
  }

  void parse_order(const OpArgument& argument) {
    const auto rows = static_cast<size_t>(settings_.rows);
    const size_t found = words_.size() - next_;
    if (found != rows) {
      const int64_t column = found < rows ? words_.back().end() : words_[next_ + rows].column;
      fail(column, fmt::format("{} row number{} for {} row{}; expected one for each row", found,
                               found == 1 ? "" : "s", rows, rows == 1 ? "" : "s"));
    }
    op_.order.reserve(rows);
    while (next_ < words_.size()) op_.order.push_back(parse_row(take(argument.word), "row"));
  }

  std::string parse_name(const Word& word) const {
    if (!is_name(word.text)) {
      fail(word.column, fmt::format("{} is not a name; expected a lower-case letter, then letters, "
                                    "digits or '_', {} in all at most",
                                    quoted(word.text), name_length_max));
    }
    if (is_reserved(word.text)) {
      fail(word.column,
           fmt::format("'{}' is a word of the language; take another name", word.text));
    }
    return std::string(word.text);
  }

  void parse_modifier() {
    const Word& word = words_[next_++];
    for (size_t i = 0; i < row_.modifiers.size(); ++i) {
      const Modifier& modifier = row_.modifiers[i];
      if (!word.text.starts_with(modifier.prefix)) continue;
      if (given_[i]) {
        fail(word.column, fmt::format("{} is given twice; keep one of them", modifier.name));
      }
      given_[i] = true;
      const Word value{word.text.substr(modifier.prefix.size()),
                       word.column + static_cast<int64_t>(modifier.prefix.size())};
      if (modifier.is_name()) {
        op_.pool = parse_name(value);
      } else {
        op_.*modifier.field = parse_modifier_number(modifier, value);
      }
      return;
    }
    fail_on_bare_number(word);
    fail(word.column, fmt::format("unexpected {}; {}", quoted(word.text), expected_form()));
  }

  int64_t parse_modifier_number(const Modifier& modifier, const Word& value) const {
    const bool of_rows = modifier.bounds.most == rows_of_the_case;
    const Bounds bounds = resolved(modifier.bounds, settings_.rows, settings_.slots);
    const auto number = number_within(value.text, bounds);
    if (!number) {
      fail_on_number(value.text, value.column, fmt::format("{}: {}", row_.name, modifier.name),
                     bounds, place_, of_rows ? hint_of_rows() : std::string());
    }
    // A bucket of all rows is none.
    return of_rows && *number == settings_.rows ? modifier.left_out : *number;
  }

  /// `decode 3` could mean several things, and a bare number is always a row, a count of tokens
  /// or a length: says what to write instead.
  void fail_on_bare_number(const Word& word) const {
    const bool number = word.text.size() < 8 && word.text.front() != '0' &&
                        std::all_of(word.text.begin(), word.text.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (!number || row_.modifiers.empty() || next_ != words_.size()) return;
    const int64_t value = std::stoll(std::string(word.text));
    std::string line(row_.name);
    for (size_t i = 1; i + 1 < words_.size(); ++i) line.append(" ").append(words_[i].text);
    std::string remedies;
    for (size_t i = row_.modifiers.size(); i-- > 0;) {
      const Modifier& modifier = row_.modifiers[i];
      if (given_[i] || modifier.counts_one.empty() || value > modifier.bounds.most) continue;
      remedies += fmt::format("{}'{} {}{}' for {} {}", remedies.empty() ? "" : " or ", line,
                              modifier.prefix, value, spelled(value),
                              value == 1 ? modifier.counts_one : modifier.counts_many);
    }
    if (remedies.empty()) return;
    place_.fail(word.column,
                fmt::format("'{} {}' reads like a row; write {}", line, value, remedies));
  }

  const OpRow& row_;
  std::span<const Word> words_;
  const Settings& settings_;
  const LinePlace& place_;
  Op op_;
  size_t next_ = 1;              ///< the word that comes next
  std::array<bool, 4> given_{};  ///< which modifiers have been seen
};

}  // namespace

Op parse_op(const OpRow& row, std::span<const Word> words, const Settings& settings,
            const LinePlace& place) {
  return OpParser(row, words, settings, place).parse();
}

}  // namespace thaw
