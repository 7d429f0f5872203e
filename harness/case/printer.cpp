// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "case/case_text.h"
#include "case/op_table.h"

namespace thaw {
namespace {

void append_number(std::string& text, int64_t value) {
  char digits[24];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), value);
  text.append(digits, result.ptr);
}

void append_rows(std::string& text, int64_t row) {
  if (row == all_rows) {
    text += "all";
  } else {
    append_number(text, row);
  }
}

void append_comment(std::string& text, const std::string& comment) {
  text += comment.empty() ? "#" : "# ";
  text += comment;
}

void append_comment_lines(std::string& text, const std::vector<std::string>& comments) {
  for (const std::string& comment : comments) {
    append_comment(text, comment);
    text += '\n';
  }
}

void append_argument(std::string& text, const OpArgument& argument, const Op& op) {
  switch (argument.kind) {
    case OpArgumentKind::rows:
      text += ' ';
      append_rows(text, op.*argument.field);
      return;
    case OpArgumentKind::row:
    case OpArgumentKind::number:
      text += ' ';
      append_number(text, op.*argument.field);
      return;
    case OpArgumentKind::order:
      for (const int64_t row : op.order) {
        text += ' ';
        append_number(text, row);
      }
      return;
    case OpArgumentKind::graph:
      text += ' ';
      text += op.graph;
      return;
    case OpArgumentKind::choice:
      text += ' ';
      text += argument.choices[static_cast<size_t>(op.*argument.field)];
      return;
  }
}

void append_op(std::string& text, const Op& op) {
  const OpRow& row = op_row(op.kind);
  text += row.name;
  for (const OpArgument& argument : row.arguments) append_argument(text, argument, op);
  for (const Modifier& modifier : row.modifiers) {
    const bool left_out =
        modifier.is_name() ? op.pool.empty() : op.*modifier.field == modifier.left_out;
    if (left_out) continue;
    text += ' ';
    text += modifier.prefix;
    if (modifier.is_name()) {
      text += op.pool;
    } else {
      append_number(text, op.*modifier.field);
    }
  }
}

void append_expect(std::string& text, const Expect& expect) {
  if (!expect.cache.empty()) text.append(expect.cache).append(" ");
  if (!expect.kind) {
    text += "clean";
    return;
  }
  text += to_string(*expect.kind);
  if (expect.op == 0) return;
  text += '@';
  append_number(text, expect.op);
  if (expect.step == 0) return;
  text += '.';
  append_number(text, expect.step);
}

/// A whole line with its comments; `append_words` writes what it says.
template <class AppendWords>
void append_line(std::string& text, const Comments& comments, AppendWords append_words) {
  append_comment_lines(text, comments.above);
  append_words();
  if (comments.beside) {
    text += ' ';
    append_comment(text, *comments.beside);
  }
  text += '\n';
}

/// A setting is written where it differs from the default, or has a comment to carry.
void append_settings(std::string& text, const Case& c) {
  static const Comments none;
  for (const KeyRow& key : key_rows()) {
    const auto found = std::find_if(c.setting_comments.begin(), c.setting_comments.end(),
                                    [&](const auto& entry) { return entry.first == key.name; });
    const bool commented = found != c.setting_comments.end();
    if (!commented && is_default(key, c.settings)) continue;
    append_line(text, commented ? found->second : none,
                [&] { text.append(key.name).append(" ").append(key_value(key, c.settings)); });
  }
}

}  // namespace

std::string print_op(const Op& op) {
  std::string text;
  append_op(text, op);
  return text;
}

std::string print_expect(const Expect& expect) {
  std::string text;
  append_expect(text, expect);
  return text;
}

std::string print_case(const Case& c) {
  std::string text;
  text.reserve(64 + 24 * (c.ops.size() + c.expects.size()));
  text += "thaw case 1\n";
  append_comment_lines(text, c.header_comments);
  append_settings(text, c);
  for (const Line<Op>& line : c.ops) {
    append_line(text, line.comments, [&] { append_op(text, line.value); });
  }
  // The case's own expects come first.
  for (const bool own : {true, false}) {
    for (const Line<Expect>& line : c.expects) {
      if (line.value.cache.empty() != own) continue;
      append_line(text, line.comments, [&] {
        text += "expect ";
        append_expect(text, line.value);
      });
    }
  }
  append_comment_lines(text, c.closing_comments);
  return text;
}

}  // namespace thaw
