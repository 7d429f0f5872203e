// SPDX-License-Identifier: Apache-2.0
#include "ledger/naive_ledger.h"

namespace thaw {
namespace {

bool takes_rows(const Op& op) {
  return op.kind == OpKind::prefill || op.kind == OpKind::load || op.kind == OpKind::reset ||
         op.kind == OpKind::crop || op.kind == OpKind::park || op.kind == OpKind::unpark;
}

bool makes_steps(const Op& op) {
  return op.kind == OpKind::prefill || op.kind == OpKind::decode || op.kind == OpKind::serve ||
         op.kind == OpKind::warmup || op.kind == OpKind::replay;
}

}  // namespace

const NaiveLedger::Graph* NaiveLedger::named(const std::string& name) const {
  for (const Graph& graph : graphs) {
    if (graph.name == name) return &graph;
  }
  return nullptr;
}

const NaiveLedger::Graph* NaiveLedger::dispatched(int64_t q) const {
  const Graph* taken = nullptr;
  for (const Graph& graph : graphs) {
    bool fits = graph.q == q;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row].live() && static_cast<int64_t>(row) >= graph.bucket) fits = false;
    }
    if (fits && (taken == nullptr || graph.bucket <= taken->bucket)) taken = &graph;
  }
  return taken;
}

const NaiveLedger::Graph* NaiveLedger::replayed(const Op& op) const {
  if (op.kind == OpKind::replay) return named(op.graph);
  return op.kind == OpKind::serve ? dispatched(op.q) : nullptr;
}

int64_t NaiveLedger::places(const Op& op) const {
  if (const Graph* graph = replayed(op)) return graph->bucket;
  return op.bucket == 0 ? static_cast<int64_t>(rows.size()) : op.bucket;
}

bool NaiveLedger::row_allowed(const Op& op, size_t row) const {
  const Row& here = rows[row];
  if (op.kind == OpKind::prefill || op.kind == OpKind::load) return !(here.exists && here.parked);
  if (op.kind == OpKind::crop) {
    if (rolling && here.entries.size() > slots) return false;
    return here.live() && here.entries.size() >= static_cast<size_t>(op.count);
  }
  if (op.kind == OpKind::park) return here.live();
  if (op.kind == OpKind::unpark) return here.exists && here.parked;
  return true;  // reset
}

bool NaiveLedger::allowed(const Op& op) const {
  if (op.kind == OpKind::prefill && (op.count < 1 || op.count > 4096)) return false;
  if (op.kind == OpKind::load && (op.count < 1 || op.count > static_cast<int64_t>(slots))) {
    return false;
  }
  if (takes_rows(op)) {
    if (op.row != all_rows && op.row >= static_cast<int64_t>(rows.size())) return false;
    return !selected(op).empty();
  }
  if (op.bucket > static_cast<int64_t>(rows.size())) return false;
  if (op.kind == OpKind::decode || op.kind == OpKind::serve) return !selected(op).empty();
  if (op.kind == OpKind::capture) return named(op.graph) == nullptr;
  if (op.kind == OpKind::replay || op.kind == OpKind::drop) return named(op.graph) != nullptr;
  if (op.kind == OpKind::hold) return made_a_step;
  if (op.kind == OpKind::fail) return !armed[op.count];
  if (op.kind == OpKind::warmup && rolling) {
    for (int64_t row : selected(op)) {
      const size_t length = rows[static_cast<size_t>(row)].entries.size();
      if (length + static_cast<size_t>(op.q) > slots) return false;
    }
  }
  if (op.kind == OpKind::churn) return op.count >= 0 && op.count <= 64;
  if (op.kind == OpKind::reorder) {
    for (int64_t from : op.order) {
      if (from >= static_cast<int64_t>(rows.size())) return false;
    }
    return op.order.size() == rows.size();
  }
  if (op.kind == OpKind::copy) {
    const auto count = static_cast<int64_t>(rows.size());
    if (op.row >= count || op.to >= count || op.row == op.to) return false;
    return rows[static_cast<size_t>(op.row)].exists && !rows[static_cast<size_t>(op.to)].parked;
  }
  return true;  // warmup
}

std::vector<int64_t> NaiveLedger::selected(const Op& op) const {
  std::vector<int64_t> found;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto number = static_cast<int64_t>(row);
    bool taken = false;
    if (takes_rows(op)) {
      taken = (op.row == all_rows || op.row == number) && row_allowed(op, row);
    } else if (op.kind == OpKind::reorder || op.kind == OpKind::sleep) {
      taken = true;
    } else if (op.kind == OpKind::copy) {
      taken = op.to == number;
    } else if (makes_steps(op) || op.kind == OpKind::capture) {
      taken = rows[row].live() && number < places(op);
    }
    if (taken) found.push_back(number);
  }
  return found;
}

int64_t NaiveLedger::tokens(const Op& op) const {
  if (op.kind == OpKind::prefill) return op.count;
  return op.kind == OpKind::replay ? named(op.graph)->q : op.q;
}

StepPlan NaiveLedger::step(const Op& op) const {
  StepPlan plan;
  plan.q_len = tokens(op);
  plan.rows.assign(static_cast<size_t>(places(op)), -1);
  plan.positions.assign(static_cast<size_t>(places(op)), -1);
  for (int64_t row : selected(op)) {
    plan.rows[static_cast<size_t>(row)] = row;
    plan.positions[static_cast<size_t>(row)] =
        static_cast<int64_t>(rows[static_cast<size_t>(row)].entries.size());
  }
  return plan;
}

void NaiveLedger::make_step(const Op& op, int64_t number) {
  made_a_step = true;
  if (replayed(op) != nullptr) armed[1] = false;
  for (int64_t row : selected(op)) {
    Row& here = rows[static_cast<size_t>(row)];
    std::vector<Entry> entries = here.entries;
    for (int64_t token = 0; token < tokens(op); ++token) {
      if (rolling || entries.size() < slots) {
        entries.push_back({row, number % 65536});
      } else {
        ++refused;
      }
    }
    if (op.kind == OpKind::warmup) continue;
    here.exists = true;
    here.entries = entries;
  }
}

void NaiveLedger::apply(const Op& op, int64_t number) {
  if (makes_steps(op)) {
    const int64_t steps = op.kind == OpKind::prefill ? 1 : op.times;
    for (int64_t step = 0; step < steps; ++step) make_step(op, number);
    return;
  }
  if (op.kind == OpKind::capture) {
    graphs.push_back({op.graph, op.q, places(op)});
    armed[0] = false;
  }
  if (op.kind == OpKind::drop) {
    std::erase_if(graphs, [&](const Graph& graph) { return graph.name == op.graph; });
  }
  if (op.kind == OpKind::fail) armed[op.count] = true;
  const std::vector<Row> old = rows;
  if (op.kind == OpKind::copy) {
    rows[static_cast<size_t>(op.to)] = old[static_cast<size_t>(op.row)];
    rows[static_cast<size_t>(op.to)].parked = false;
    return;
  }
  for (int64_t row : selected(op)) {
    Row& here = rows[static_cast<size_t>(row)];
    if (op.kind == OpKind::load) {
      here.exists = true;
      here.entries.assign(static_cast<size_t>(op.count), {row, number % 65536});
    }
    if (op.kind == OpKind::reset || op.kind == OpKind::sleep) here = Row{};
    if (op.kind == OpKind::crop) here.entries.resize(static_cast<size_t>(op.count));
    if (op.kind == OpKind::park) here.parked = true;
    if (op.kind == OpKind::unpark) here.parked = false;
    if (op.kind == OpKind::reorder) {
      here = old[static_cast<size_t>(op.order[static_cast<size_t>(row)])];
    }
  }
}

}  // namespace thaw
