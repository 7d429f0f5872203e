// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "case/op_table.h"

namespace thaw {
namespace {

void mix(size_t& hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
}

/// Whether the op names its rows by ROWS, one row or `all`; the others have another way to name
/// them, or step the whole batch.
bool has_rows_argument(OpKind kind) {
  const auto arguments = op_row(kind).arguments;
  return !arguments.empty() && arguments.front().kind == OpArgumentKind::rows;
}

}  // namespace

size_t hash_value(const LedgerState& state) {
  size_t hash = state.rows.size();
  for (const LedgerState::Row& row : state.rows) {
    mix(hash, static_cast<uint64_t>(row.length) * 4 + static_cast<uint64_t>(row.state));
  }
  for (const LedgerState::Graph& graph : state.graphs) {
    mix(hash, std::hash<std::string_view>{}(graph.name));
    mix(hash, std::hash<std::string_view>{}(graph.pool));
    mix(hash, static_cast<uint64_t>(graph.q) * 64 + static_cast<uint64_t>(graph.bucket) * 2 +
                  (graph.empty ? 1 : 0));
  }
  mix(hash,
      (state.stepped ? 1u : 0u) + (state.capture_fails ? 2u : 0u) + (state.replay_fails ? 4u : 0u));
  return hash;
}

Ledger::Ledger(const Settings& settings, Layout layout)
    : layout_(layout),
      case_slots_(settings.slots),
      slots_(settings.slots),
      window_(settings.window) {
  if (layout != Layout::linear) {
    if (window_ > 0) slots_ = window_;
    window_ = slots_;
  }
  state_.rows.resize(static_cast<size_t>(settings.rows));
  provenance_.resize(static_cast<size_t>(settings.rows * slots_));
}

const LedgerState::Graph* Ledger::graph(const std::string& name) const {
  for (const LedgerState::Graph& graph : state_.graphs) {
    if (graph.name == name) return &graph;
  }
  return nullptr;
}

const LedgerState::Graph* Ledger::graph_of(const Op& op) const {
  if (op.kind == OpKind::replay) return graph(op.graph);
  if (op.kind != OpKind::serve) return nullptr;
  int64_t needed = rows();
  while (needed > 0 && !live(needed - 1)) --needed;
  const LedgerState::Graph* best = nullptr;
  for (const LedgerState::Graph& graph : state_.graphs) {
    if (graph.q != op.q || graph.bucket < needed) continue;
    if (best == nullptr || graph.bucket <= best->bucket) best = &graph;
  }
  return best;
}

Ledger::Shape Ledger::shape_of(const Op& op) const {
  if (const LedgerState::Graph* graph = graph_of(op)) return {graph->q, graph->bucket};
  if (op.kind == OpKind::prefill) return {op.count, rows()};
  return {op.q, op.bucket > 0 ? op.bucket : rows()};
}

/// Whether a row meets the precondition of an op that speaks of it (R3) or of an op that steps the
/// whole batch.
bool Ledger::qualifies(const Op& op, int64_t row) const {
  const LedgerState::Row& here = state_.rows[static_cast<size_t>(row)];
  switch (op.kind) {
    case OpKind::prefill:
    case OpKind::load:
      return here.state != RowState::parked;
    case OpKind::decode:
    case OpKind::serve:
    case OpKind::warmup:
    case OpKind::capture:
    case OpKind::replay:
    case OpKind::park:
      return here.state == RowState::live;
    case OpKind::crop:
      return here.state == RowState::live && here.length >= op.count && evicted_nothing(row);
    case OpKind::unpark:
      return here.state == RowState::parked;
    case OpKind::reset:
    case OpKind::reorder:
    case OpKind::sleep:
      return true;
    case OpKind::copy:
      return row == op.to;
    case OpKind::drop:
    case OpKind::hold:
    case OpKind::churn:
    case OpKind::reseed:
    case OpKind::fail:
      return false;
  }
  return false;
}

bool Ledger::takes_part(const Op& op, int64_t row) const {
  const bool named = !has_rows_argument(op.kind) || op.row == all_rows || op.row == row;
  return named && qualifies(op, row);
}

bool Ledger::any_takes_part(const Op& op) const {
  for (int64_t row = 0; row < rows(); ++row) {
    if (takes_part(op, row)) return true;
  }
  return false;
}

void Ledger::rows_of(const Op& op, std::vector<int64_t>& rows) const {
  rows.clear();
  const int64_t end = std::min(shape_of(op).places, this->rows());
  for (int64_t row = 0; row < end; ++row) {
    if (takes_part(op, row)) rows.push_back(row);
  }
}

std::vector<int64_t> Ledger::rows_of(const Op& op) const {
  std::vector<int64_t> rows;
  rows_of(op, rows);
  return rows;
}

int64_t Ledger::steps_of(const Op& op) { return op_row(op.kind).makes_steps ? op.times : 0; }

std::optional<Obstacle> Ledger::obstacle(const Op& op) const {
  using Kind = Obstacle::Kind;
  if (auto bad = argument_obstacle(op)) return bad;
  switch (op.kind) {
    case OpKind::prefill:
    case OpKind::load:
    case OpKind::reset:
    case OpKind::crop:
    case OpKind::park:
    case OpKind::unpark:
      if (op.row != all_rows) return row_obstacle(op);
      if (any_takes_part(op)) return std::nullopt;
      return Obstacle{.kind = Kind::no_row_for_all, .word = 1};
    case OpKind::decode:
    case OpKind::serve:
      if (any_takes_part(op)) return std::nullopt;
      return Obstacle{.kind = Kind::no_live_row};
    case OpKind::capture:
      if (!graph(op.graph)) return std::nullopt;
      return Obstacle{.kind = Kind::graph_exists, .word = 1};
    case OpKind::replay:
    case OpKind::drop:
      if (graph(op.graph)) return std::nullopt;
      return Obstacle{.kind = Kind::no_such_graph, .word = 1};
    case OpKind::copy:
      return copy_obstacle(op);
    case OpKind::warmup:
      return warmup_obstacle(op);
    case OpKind::hold:
      if (state_.stepped) return std::nullopt;
      return Obstacle{.kind = Kind::no_step_yet};
    case OpKind::fail:
      if (!(op.count == fail_capture ? state_.capture_fails : state_.replay_fails)) {
        return std::nullopt;
      }
      return Obstacle{.kind = Kind::armed_already, .word = 1};
    case OpKind::reorder:
    case OpKind::churn:
    case OpKind::sleep:
    case OpKind::reseed:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> Ledger::objection(const Op& op) const {
  if (const auto bad = obstacle(op)) return explain(*this, op, *bad);
  return std::nullopt;
}

/// Rows that the case does not have, and numbers outside the bounds of the table of ops.
std::optional<Obstacle> Ledger::argument_obstacle(const Op& op) const {
  using Kind = Obstacle::Kind;
  const auto no_such_row = [this](int64_t row) { return row < 0 || row >= rows(); };
  int64_t word = 0;
  for (const OpArgument& argument : op_row(op.kind).arguments) {
    ++word;
    if (argument.kind == OpArgumentKind::rows || argument.kind == OpArgumentKind::row) {
      const int64_t row = op.*argument.field;
      if (argument.kind == OpArgumentKind::rows && row == all_rows) continue;
      if (no_such_row(row)) return Obstacle{.kind = Kind::no_such_row, .word = word, .row = row};
    } else if (argument.kind == OpArgumentKind::number) {
      const int64_t value = op.*argument.field;
      const auto [least, most] = resolved(argument.bounds, rows(), case_slots_);
      if (value >= least && value <= most) continue;
      return Obstacle{
          .kind = Kind::count_out_of_bounds, .word = word, .least = least, .most = most};
    } else if (argument.kind == OpArgumentKind::order) {
      if (op.order.size() != state_.rows.size()) return Obstacle{.kind = Kind::wrong_row_count};
      const auto bad = std::find_if(op.order.begin(), op.order.end(), no_such_row);
      if (bad == op.order.end()) continue;
      return Obstacle{
          .kind = Kind::no_such_row, .word = word + (bad - op.order.begin()), .row = *bad};
    }
  }
  if (op.bucket >= 0 && op.bucket <= rows()) return std::nullopt;
  return Obstacle{.kind = Kind::no_such_bucket, .least = 1, .most = rows()};
}

/// What keeps the one row that `op` names from taking part.
std::optional<Obstacle> Ledger::row_obstacle(const Op& op) const {
  using Kind = Obstacle::Kind;
  if (qualifies(op, op.row)) return std::nullopt;
  if (op.kind == OpKind::unpark) {
    return Obstacle{.kind = Kind::row_is_not_parked, .word = 1, .row = op.row};
  }
  const LedgerState::Row& here = state_.rows[static_cast<size_t>(op.row)];
  if (here.state == RowState::live && !evicted_nothing(op.row)) {
    return Obstacle{.kind = Kind::row_has_evicted, .word = 1, .row = op.row, .most = slots_};
  }
  if (here.state == RowState::live) {
    return Obstacle{.kind = Kind::row_is_shorter, .word = 2, .row = op.row, .most = here.length};
  }
  const Kind kind = here.state == RowState::idle ? Kind::row_is_idle : Kind::row_is_parked;
  return Obstacle{.kind = kind, .word = 1, .row = op.row};
}

std::optional<Obstacle> Ledger::copy_obstacle(const Op& op) const {
  using Kind = Obstacle::Kind;
  if (op.row == op.to) return Obstacle{.kind = Kind::same_row, .word = 2, .row = op.to};
  if (state_.rows[static_cast<size_t>(op.row)].state == RowState::idle) {
    return Obstacle{.kind = Kind::row_is_idle, .word = 1, .row = op.row};
  }
  if (state_.rows[static_cast<size_t>(op.to)].state == RowState::parked) {
    return Obstacle{.kind = Kind::row_is_parked, .word = 2, .row = op.to};
  }
  return std::nullopt;
}

/// What a warm-up of a row that is full evicts cannot be undone (R9).
std::optional<Obstacle> Ledger::warmup_obstacle(const Op& op) const {
  if (layout_ == Layout::linear) return std::nullopt;
  const Shape shape = shape_of(op);
  for (int64_t row = 0; row < shape.places; ++row) {
    if (!takes_part(op, row) || length(row) + shape.q <= slots_) continue;
    return Obstacle{.kind = Obstacle::Kind::warmup_evicts, .row = row, .most = slots_};
  }
  return std::nullopt;
}

void Ledger::plan(const Op& op, StepPlan& plan) const {
  const auto [q, places] = shape_of(op);
  plan.q_len = q;
  plan.rows.resize(static_cast<size_t>(places));
  plan.positions.resize(static_cast<size_t>(places));
  for (int64_t row = 0; row < places; ++row) {
    const bool taken = takes_part(op, row);
    plan.rows[static_cast<size_t>(row)] = taken ? row : -1;
    plan.positions[static_cast<size_t>(row)] = taken ? length(row) : -1;
  }
}

void Ledger::commit_step(const Op& op, int64_t number) {
  const auto [q, places] = shape_of(op);
  if (graph_of(op) != nullptr) state_.replay_fails = false;
  state_.stepped = true;
  for (int64_t row = 0; row < places; ++row) {
    if (!takes_part(op, row)) continue;
    LedgerState::Row& here = state_.rows[static_cast<size_t>(row)];
    const int64_t end = accepted_end(here.length, q);
    refused_ += here.length + q - end;
    if (op.kind == OpKind::warmup) continue;
    write(row, here.length, end, number);
    here = {RowState::live, end};
  }
}

void Ledger::apply_without_steps(const Op& op, int64_t number) {
  switch (op.kind) {
    case OpKind::capture:
      state_.graphs.push_back({op.graph, op.q, shape_of(op).places, op.pool,
                               std::exchange(state_.capture_fails, false)});
      return;
    case OpKind::fail:
      (op.count == fail_capture ? state_.capture_fails : state_.replay_fails) = true;
      return;
    case OpKind::drop:
      state_.graphs.erase(state_.graphs.begin() + (graph(op.graph) - state_.graphs.data()));
      return;
    case OpKind::reorder:
      return reorder(op.order);
    case OpKind::copy:
      return copy(op.row, op.to);
    default:
      break;
  }
  for (int64_t row = 0; row < rows(); ++row) {
    if (!takes_part(op, row)) continue;
    LedgerState::Row& here = state_.rows[static_cast<size_t>(row)];
    if (op.kind == OpKind::load) {
      write(row, 0, op.count, number);
      here = {RowState::live, op.count};
    } else if (op.kind == OpKind::reset || op.kind == OpKind::sleep) {
      here = {};
    } else if (op.kind == OpKind::crop) {
      here.length = op.count;
    } else if (op.kind == OpKind::park) {
      here.state = RowState::parked;
    } else if (op.kind == OpKind::unpark) {
      here.state = RowState::live;
    }
  }
}

void Ledger::apply(const Op& op, int64_t number) {
  const int64_t steps = steps_of(op);
  if (steps == 0) return apply_without_steps(op, number);
  for (int64_t step = 0; step < steps; ++step) commit_step(op, number);
}

void Ledger::mark_empty(const std::string& graph) {
  for (LedgerState::Graph& captured : state_.graphs) {
    if (captured.name == graph) captured.empty = true;
  }
}

void Ledger::write(int64_t row, int64_t begin, int64_t end, int64_t number) {
  const Provenance written{static_cast<uint8_t>(row), static_cast<uint16_t>(number % 65536)};
  for (int64_t position = std::max(begin, end - slots_); position < end; ++position) {
    provenance_[index(row, position)] = written;
  }
}

void Ledger::reorder(const std::vector<int64_t>& order) {
  const std::vector<LedgerState::Row> rows = state_.rows;
  const std::vector<Provenance> entries = provenance_;
  for (size_t row = 0; row < rows.size(); ++row) {
    const int64_t from = order[row];
    state_.rows[row] = rows[static_cast<size_t>(from)];
    std::copy_n(entries.begin() + from * slots_, std::min(state_.rows[row].length, slots_),
                provenance_.begin() + static_cast<int64_t>(row) * slots_);
  }
}

void Ledger::copy(int64_t from, int64_t to) {
  const int64_t length = this->length(from);
  state_.rows[static_cast<size_t>(to)] = {RowState::live, length};
  std::copy_n(provenance_.begin() + from * slots_, std::min(length, slots_),
              provenance_.begin() + to * slots_);
}

}  // namespace thaw
