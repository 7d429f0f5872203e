// SPDX-License-Identifier: Apache-2.0
#include "report/case_excerpt.h"

#include <fmt/format.h>

#include <algorithm>

#include "case/case_text.h"
#include "case/op_table.h"

namespace thaw {
namespace {

constexpr int64_t first_ops_shown = 4;
constexpr int64_t ops_shown_before_a_finding = 8;
constexpr size_t captures_shown = 4;
constexpr size_t op_column_max = 40;

std::vector<std::string> setting_lines(const Settings& settings) {
  std::vector<std::string> lines;
  for (const KeyRow& key : key_rows()) {
    if (key.name != "cache" && is_default(key, settings)) continue;
    lines.push_back(fmt::format("{} {}", key.name, key_value(key, settings)));
  }
  return lines;
}

/// The numbers of the ops that are worth showing, ascending.
std::vector<int64_t> ops_shown(const Case& c, const std::vector<Finding>& findings) {
  const auto count = static_cast<int64_t>(c.ops.size());
  std::vector<int64_t> shown;
  const auto show = [&](int64_t from, int64_t to) {
    for (int64_t op = std::max<int64_t>(from, 1); op <= std::min(to, count); ++op) {
      shown.push_back(op);
    }
  };
  show(1, first_ops_shown);
  int64_t last = first_ops_shown;
  for (const Finding& finding : findings) {
    show(finding.op - ops_shown_before_a_finding, finding.op);
    last = std::max(last, finding.op);
  }
  size_t captures = 0;
  for (int64_t op = 1; op <= std::min(last, count) && captures < captures_shown; ++op) {
    if (c.ops[static_cast<size_t>(op - 1)].value.kind != OpKind::capture) continue;
    show(op, op);
    ++captures;
  }
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  return shown;
}

/// "<- length, purity; slots, step 2"
std::string findings_at(int64_t op, const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.op != op) continue;
    text += text.empty() ? "<- " : "; ";
    text += to_string(finding.kind);
    if (finding.step > 0) text += fmt::format(", step {}", finding.step);
  }
  return text;
}

/// "5 - p3  row 0: 5 to 7"; without `steps` the lengths alone.
std::string ledger_after(int64_t op, const FailureScene& scene, bool steps) {
  if (op > static_cast<int64_t>(scene.ops().size())) return "";
  const FailureScene::AfterOp& after = scene.ops()[static_cast<size_t>(op - 1)];
  std::vector<std::string> rows;
  for (size_t row = 0; row < after.lengths.size(); ++row) {
    const std::string length = fmt::format("{}", after.lengths[row]);
    rows.push_back(after.states[row] == RowState::idle     ? "-"
                   : after.states[row] == RowState::parked ? "p" + length
                                                           : length);
  }
  std::string text = fmt::format("{}", fmt::join(rows, " "));
  if (steps && !after.accepted.empty() && after.accepted.size() <= 2) {
    text += fmt::format("  {}", fmt::join(after.accepted, "; "));
  }
  return text;
}

std::string gap(int64_t ops, size_t margin, const Style& style) {
  if (ops == 0) return "";
  return fmt::format("{:{}}{}\n", "", margin,
                     style.dim(fmt::format("... {} more op{}", ops, ops == 1 ? "" : "s")));
}

}  // namespace

std::string case_excerpt(const Case& c, const std::vector<Finding>& findings,
                         const FailureScene* scene, const Style& style) {
  const std::vector<int64_t> shown = ops_shown(c, findings);
  const int64_t marked = findings.empty() ? 0 : findings.front().op;
  const auto digits = static_cast<int>(std::to_string(shown.empty() ? 0 : shown.back()).size());
  const size_t margin = static_cast<size_t>(digits) + 6;
  size_t column = 0;
  for (const int64_t op : shown) {
    column = std::max(column, print_op(c.ops[static_cast<size_t>(op - 1)].value).size());
  }
  column = std::min(column, op_column_max);
  size_t ledger_column = 0, findings_column = 0;
  bool steps = true;
  const auto measure = [&] {
    ledger_column = 0;
    for (const int64_t op : shown) {
      if (scene != nullptr) {
        ledger_column = std::max(ledger_column, ledger_after(op, *scene, steps).size());
      }
      findings_column = std::max(findings_column, findings_at(op, findings).size());
    }
  };
  measure();
  // What the steps put where is left out on a terminal that has no room for it.
  steps = margin + column + ledger_column + findings_column + 6 <= static_cast<size_t>(style.width);
  if (!steps) measure();

  std::string text;
  for (const std::string& line : setting_lines(c.settings)) {
    text += fmt::format("{:{}}{}\n", "", margin, line);
  }
  int64_t next = 1;
  for (const int64_t op : shown) {
    text += gap(op - next, margin, style);
    next = op + 1;
    const std::string words = print_op(c.ops[static_cast<size_t>(op - 1)].value);
    const std::string at = findings_at(op, findings);
    const std::string after = scene == nullptr ? "" : ledger_after(op, *scene, steps);
    std::string line = fmt::format("{} {:>{}}  {:<{}}", op == marked ? ">" : " ", op, digits, words,
                                   at.empty() && after.empty() ? 0 : column);
    if (scene != nullptr) line += fmt::format("   {:<{}}", after, at.empty() ? 0 : ledger_column);
    if (!at.empty()) line += "   " + at;
    line.erase(line.find_last_not_of(' ') + 1);
    text += fmt::format("  {}\n", op == marked ? style.bad(line) : line);
  }
  return text + gap(static_cast<int64_t>(c.ops.size()) + 1 - next, margin, style);
}

}  // namespace thaw
