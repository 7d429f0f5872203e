// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "case/case_text.h"
#include "case/line_parser.h"
#include "case/op_table.h"
#include "case/suggestions.h"
#include "case/text_lines.h"

namespace thaw {
namespace {

/// Reads the lines of a case and puts them where they belong: what may stand where, who owns a
/// comment, and the limits of a case as a whole.
class CaseParser {
 public:
  CaseParser(std::string_view text, std::string_view file)
      : text_(text), file_(file), lines_(text, file) {}

  Case parse() {
    parse_header();
    while (lines_.next()) parse_line();
    if (case_.ops.empty()) check_settings();
    // The case's own expects come first in normal form. An insertion, because the standard's stable
    // algorithms use a buffer that is deprecated, and a case has few expects.
    auto end_of_own = case_.expects.begin();
    for (auto expect = case_.expects.begin(); expect != case_.expects.end(); ++expect) {
      if (!expect->value.cache.empty()) continue;
      std::rotate(end_of_own, expect, expect + 1);
      ++end_of_own;
    }
    settle_comments();
    return std::move(case_);
  }

 private:
  LinePlace place() const { return {file_, lines_.number()}; }

  void check_first_bytes() const {
    if (text_.starts_with("\xEF\xBB\xBF")) {
      throw CaseError(file_, {1, 1}, "a byte order mark; a case is UTF-8 without one; remove it");
    }
    if (!text_.starts_with("thaw")) fail_not_a_case();
  }

  [[noreturn]] void fail_not_a_case() const {
    throw CaseError(file_, {1, 1}, "not a case: expected 'thaw case 1' on the first line");
  }

  void parse_header() {
    check_first_bytes();
    lines_.next();
    const auto words = lines_.words();
    if (words.size() != 3 || words[0].text != "thaw" || words[1].text != "case") fail_not_a_case();
    const std::string_view version = words[2].text;
    if (version != "1") {
      const bool newer =
          version.front() >= '1' && version.front() <= '9' &&
          std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!newer) fail_not_a_case();
      place().fail(words[2].column,
                   fmt::format("version {} is newer than this program reads ({}); update thaw, or "
                               "rewrite the case with 'thaw run --as {}' where it still can",
                               shortened(version), case_version, case_version));
    }
    if (lines_.comment()) case_.header_comments.emplace_back(*lines_.comment());
  }

  void parse_line() {
    const auto words = lines_.words();
    if (words.empty()) {
      if (lines_.comment()) comments_above_.emplace_back(*lines_.comment());
      return;
    }
    const std::string_view first = words[0].text;
    if (const OpRow* op = find_op(first)) {
      add_op(*op);
    } else if (first == "expect") {
      case_.expects.push_back(take_line(parse_expect(words, place())));
    } else if (const KeyRow* key = find_key(first)) {
      add_setting(*key);
    } else {
      fail_on_unknown_word(words[0]);
    }
  }

  Comments take_comments() {
    Comments comments;
    comments.above = std::exchange(comments_above_, {});
    if (lines_.comment()) comments.beside = *lines_.comment();
    return comments;
  }

  template <class T>
  Line<T> take_line(T value) {
    Line<T> line;
    line.value = std::move(value);
    line.comments = take_comments();
    const auto words = lines_.words();
    line.position = {lines_.number(), words[0].column};
    line.columns.reserve(words.size());
    for (const Word& word : words) line.columns.push_back(word.column);
    return line;
  }

  void add_op(const OpRow& row) {
    if (case_.ops.empty()) check_settings();
    const int64_t column = lines_.words()[0].column;
    Op op = parse_op(row, lines_.words(), case_.settings, place());
    if (static_cast<int64_t>(case_.ops.size()) == ops_max) {
      place().fail(column, fmt::format("the case has more than {} ops; cut it", ops_max));
    }
    if (row.makes_steps) steps_ += op.times;
    if (steps_ > steps_max) {
      place().fail(column, fmt::format("the case has {} steps up to here; a case has at most {}; "
                                       "cut it",
                                       steps_, steps_max));
    }
    case_.ops.push_back(take_line(std::move(op)));
  }

  void add_setting(const KeyRow& key) {
    const auto words = lines_.words();
    const auto index = static_cast<size_t>(&key - key_rows().data());
    if (!case_.ops.empty()) {
      place().fail(words[0].column,
                   fmt::format("'{}' comes after the first op (line {}); move it above", key.name,
                               case_.ops.front().position.line));
    }
    if (values_[index].line != 0) {
      place().fail(words[0].column, fmt::format("'{}' is set already (line {}); keep one of them",
                                                key.name, values_[index].line));
    }
    parse_setting(key, words, case_.settings, place());
    const bool first_setting =
        std::all_of(values_.begin(), values_.end(),
                    [](const SourcePosition& value) { return value.line == 0; });
    values_[index] = {lines_.number(), words[1].column};
    Comments comments = take_comments();
    if (first_setting) add_to_header(comments.above);
    setting_comments_[index] = std::move(comments);
  }

  /// What can only be judged once all settings are known.
  void check_settings() const {
    const Settings& settings = case_.settings;
    if (settings.heads % settings.kv_heads != 0) {
      fail_on_settings("heads", "kv_heads",
                       fmt::format("heads must be a multiple of kv_heads, found heads {} and "
                                   "kv_heads {}",
                                   settings.heads, settings.kv_heads));
    }
    if (settings.decoder == DecoderKind::tag && settings.dim < 12) {
      fail_on_settings(
          "decoder", "dim",
          fmt::format("dim must be 12 to 256 with the decoder tag, found {}", settings.dim));
    }
    if (settings.decoder == DecoderKind::llama && settings.dim % 2 != 0) {
      fail_on_settings(
          "decoder", "dim",
          fmt::format("dim must be even with the decoder llama, found {}", settings.dim));
    }
    if (settings.window > settings.slots) {
      fail_on_settings("window", "slots",
                       fmt::format("window must be 0 to slots, found window {} and slots {}",
                                   settings.window, settings.slots));
    }
  }

  /// Points at the later of two settings that do not go together.
  [[noreturn]] void fail_on_settings(std::string_view first, std::string_view second,
                                     const std::string& message) const {
    const auto position = [this](std::string_view key) {
      return values_[static_cast<size_t>(find_key(key) - key_rows().data())];
    };
    const bool first_is_later = position(first).line > position(second).line;
    throw CaseError(file_, position(first_is_later ? first : second), message);
  }

  [[noreturn]] void fail_on_unknown_word(const Word& word) const {
    for (const OpRow& row : op_rows()) {
      const auto& others = row.also_called;
      if (std::find(others.begin(), others.end(), word.text) != others.end()) {
        fail_on_unknown_op(word, row);
      }
    }
    // Before the first op a word is rather a key, after it rather an op.
    std::vector<std::string_view> known{"expect"};
    if (case_.ops.empty()) {
      for (const KeyRow& key : key_rows()) known.push_back(key.name);
    }
    for (const OpRow& row : op_rows()) known.push_back(row.name);
    const std::string_view nearest = nearest_word(word.text, known);
    if (const OpRow* row = find_op(nearest)) fail_on_unknown_op(word, *row);
    std::string_view what = case_.ops.empty() ? "word" : "op";
    if (find_key(nearest) != nullptr) what = "key";
    std::string remedy = fmt::format("; did you mean '{}'?", nearest);
    if (nearest.empty()) {
      remedy = case_.ops.empty() ? "; expected a key, an op or 'expect' ('thaw list ops' shows all)"
                                 : "; expected an op or 'expect' ('thaw list ops' shows all)";
    }
    place().fail(word.column, fmt::format("unknown {} {}{}", what, quoted(word.text), remedy));
  }

  [[noreturn]] void fail_on_unknown_op(const Word& word, const OpRow& meant) const {
    place().fail(word.column,
                 fmt::format("unknown op {}; did you mean '{}'? ('thaw list ops' shows all)",
                             quoted(word.text), op_form(meant)));
  }

  void add_to_header(std::vector<std::string>& comments) {
    std::move(comments.begin(), comments.end(), std::back_inserter(case_.header_comments));
    comments.clear();
  }

  /// Decides who owns each comment such that reading what was printed decides the same: whatever
  /// stands above the first line that normal form prints belongs to the header.
  void settle_comments() {
    bool header_is_open = true;
    for (size_t i = 0; i < key_count; ++i) {
      const KeyRow& key = key_rows()[i];
      Comments& comments = setting_comments_[i];
      if (header_is_open) add_to_header(comments.above);
      const bool commented = !comments.above.empty() || comments.beside.has_value();
      if (commented || !is_default(key, case_.settings)) header_is_open = false;
      if (commented) case_.setting_comments.emplace_back(key.name, std::move(comments));
    }
    case_.closing_comments = std::move(comments_above_);
    if (!header_is_open) return;
    if (!case_.ops.empty()) {
      add_to_header(case_.ops.front().comments.above);
    } else if (!case_.expects.empty()) {
      add_to_header(case_.expects.front().comments.above);
    } else {
      add_to_header(case_.closing_comments);
    }
  }

  std::string_view text_;
  std::string_view file_;
  TextLines lines_;
  Case case_;
  std::vector<std::string> comments_above_;  ///< read, and not owned by a line yet
  std::array<SourcePosition, key_count> values_{};
  std::array<Comments, key_count> setting_comments_;
  int64_t steps_ = 0;
};

}  // namespace

Case parse_case(std::string_view text, std::string_view file) {
  return CaseParser(text, file).parse();
}

}  // namespace thaw
