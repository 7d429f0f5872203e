// SPDX-License-Identifier: Apache-2.0
#include "ledger/validate.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "case/op_table.h"
#include "decoder/llama_spec.h"
#include "ledger/ledger.h"

namespace thaw {
namespace {

/// Since which line of the text rows are parked and graphs exist: what a message adds to what the
/// ledger knows. Line 0: there is no text.
class Since {
 public:
  explicit Since(int64_t rows) : parked_(static_cast<size_t>(rows), not_parked) {}

  /// After an op that stood in `line`. A parked row that reorder moved onto a parked row leaves
  /// the line as it was: what counts is since when this row has been out of the batch.
  void note(const Op& op, const LedgerState& state, int64_t line) {
    if (op.kind == OpKind::capture) captured_[op.graph] = line;
    if (op.kind == OpKind::fail) armed_[static_cast<size_t>(op.count)] = line;
    for (size_t row = 0; row < parked_.size(); ++row) {
      if (state.rows[row].state != RowState::parked) {
        parked_[row] = not_parked;
      } else if (parked_[row] == not_parked) {
        parked_[row] = line;
      }
    }
  }

  std::string text(const Op& op, const Obstacle& obstacle) const {
    int64_t line = 0;
    if (obstacle.kind == Obstacle::Kind::row_is_parked) {
      line = parked_[static_cast<size_t>(obstacle.row)];
    } else if (obstacle.kind == Obstacle::Kind::graph_exists) {
      line = captured_.at(op.graph);
    } else if (obstacle.kind == Obstacle::Kind::armed_already) {
      line = armed_[static_cast<size_t>(op.count)];
    }
    return line == 0 ? std::string() : fmt::format(" since line {}", line);
  }

 private:
  static constexpr int64_t not_parked = -1;
  std::vector<int64_t> parked_;
  std::map<std::string, int64_t> captured_;
  std::array<int64_t, 2> armed_{};  ///< by Op::count of `fail`
};

/// Where a word of a line stands, `inside` characters into it; the line itself where there is no
/// text.
template <class T>
SourcePosition position_of(const Line<T>& line, size_t word, size_t inside = 0) {
  SourcePosition position = line.position;
  if (word < line.columns.size()) {
    position.column = line.columns[word] + static_cast<int64_t>(inside);
  }
  return position;
}

std::string counted(int64_t count, std::string_view noun) {
  if (count == 0) return fmt::format("no {}s", noun);
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// An expect may name only an op that there is, and a step that this op makes.
void validate_expect(const Case& c, const Line<Expect>& line, std::string_view file) {
  Expect expect = line.value;
  if (expect.op == 0) return;
  const size_t word = expect.cache.empty() ? 1 : 2;
  expect.cache.clear();
  const std::string text = print_expect(expect);
  const auto ops = static_cast<int64_t>(c.ops.size());
  if (expect.op > ops) {
    throw CaseError(
        file, position_of(line, word, text.find('@') + 1),
        fmt::format("expect: {}: the case has {} (settings, comments and expects are not counted)",
                    text, counted(ops, "op")));
  }
  if (expect.step > 0 && c.settings.schedule != CaseSchedule::early) {
    throw CaseError(file, position_of(line, word, text.find('.') + 1),
                    fmt::format("expect: {}: with this schedule the oracles look once an op; leave "
                                "out the step",
                                text));
  }
  const int64_t steps = Ledger::steps_of(c.ops[static_cast<size_t>(expect.op - 1)].value);
  if (expect.step > steps) {
    throw CaseError(
        file, position_of(line, word, text.find('.') + 1),
        fmt::format("expect: {}: op {} has {}", text, expect.op, counted(steps, "step")));
  }
}

/// With the llama decoder a step's scores are as many as rows, heads, tokens and slots together.
void validate_size(const Case& c, const Line<Op>& line, std::string_view file) {
  if (c.settings.decoder != DecoderKind::llama) return;
  const Settings& s = c.settings;
  const LlamaSpec llama = llama_spec(s.layers, s.heads, s.kv_heads, s.dim);
  const int64_t q_len = Case::q_len_of(line.value);
  if (llama_scratch_numbers(llama, s.rows, s.slots, q_len) <= llama_scratch_numbers_max) return;
  throw CaseError(
      file, line.position,
      fmt::format("{}: a step of {} on {} of {} needs more than 1 GiB of intermediate results with "
                  "the decoder llama; use fewer rows, slots, heads or tokens, or the decoder tag",
                  to_string(line.value.kind), counted(q_len, "token"), counted(s.rows, "row"),
                  counted(s.slots, "slot")));
}

}  // namespace

void validate_case(const Case& c, std::string_view file, Layout layout) {
  Ledger ledger(c.settings, layout);
  Since since(ledger.rows());
  int64_t number = 0;
  for (const Line<Op>& line : c.ops) {
    const Op& op = line.value;
    if (const auto obstacle = ledger.obstacle(op)) {
      throw CaseError(file, position_of(line, static_cast<size_t>(obstacle->word)),
                      explain(ledger, op, *obstacle, since.text(op, *obstacle)));
    }
    validate_size(c, line, file);
    ledger.apply(op, ++number);
    since.note(op, ledger.state(), line.position.line);
  }
  for (const Line<Expect>& line : c.expects) validate_expect(c, line, file);
}

}  // namespace thaw
