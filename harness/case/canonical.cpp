// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "case/op_table.h"

namespace thaw {
namespace {

enum class State : uint8_t { idle, live, parked };

/// Which rows an op's `all` may name, by their states. Lengths are not followed, so a crop of all
/// rows that only one of several live rows is long enough for keeps its `all`.
class RowStates {
 public:
  explicit RowStates(int64_t rows) : states_(static_cast<size_t>(rows), State::idle) {}

  /// The one row that `all` of this op names, or all_rows where it may name several.
  int64_t only_row(OpKind kind) const {
    int64_t only = all_rows;
    for (size_t row = 0; row < states_.size(); ++row) {
      if (!may_take_part(kind, states_[row])) continue;
      if (only != all_rows) return all_rows;
      only = static_cast<int64_t>(row);
    }
    return only;
  }

  void apply(const Op& op) {
    switch (op.kind) {
      case OpKind::prefill:
      case OpKind::load:
      case OpKind::unpark:
        return set(op, State::live);
      case OpKind::park:
        return set(op, State::parked);
      case OpKind::reset:
        return set(op, State::idle);
      case OpKind::sleep:
        std::fill(states_.begin(), states_.end(), State::idle);
        return;
      case OpKind::copy:
        states_[static_cast<size_t>(op.to)] = State::live;
        return;
      case OpKind::reorder:
        reorder(op.order);
        return;
      default:
        return;
    }
  }

 private:
  static bool may_take_part(OpKind kind, State state) {
    switch (kind) {
      case OpKind::prefill:
      case OpKind::load:
        return state != State::parked;
      case OpKind::crop:
      case OpKind::park:
        return state == State::live;
      case OpKind::unpark:
        return state == State::parked;
      default:
        return true;
    }
  }

  void set(const Op& op, State state) {
    for (size_t row = 0; row < states_.size(); ++row) {
      const bool named = op.row == all_rows ? may_take_part(op.kind, states_[row])
                                            : op.row == static_cast<int64_t>(row);
      if (named) states_[row] = state;
    }
  }

  void reorder(const std::vector<int64_t>& order) {
    const std::vector<State> old = states_;
    for (size_t row = 0; row < order.size(); ++row) {
      states_[row] = old[static_cast<size_t>(order[row])];
    }
  }

  std::vector<State> states_;
};

/// Names in the order of their first use: "g0", "g1", ...
class Renamed {
 public:
  explicit Renamed(char letter) : letter_(letter) {}

  void rename(std::string& name) {
    if (name.empty()) return;
    name = names_.try_emplace(name, letter_ + std::to_string(names_.size())).first->second;
  }

 private:
  char letter_;
  std::map<std::string, std::string> names_;
};

bool names_rows(OpKind kind) {
  const auto arguments = op_row(kind).arguments;
  return std::any_of(arguments.begin(), arguments.end(), [](const OpArgument& argument) {
    return argument.kind == OpArgumentKind::rows;
  });
}

}  // namespace

std::string canonical_form(const Case& c) {
  Case canonical;
  canonical.settings = c.settings;
  if (canonical.settings.cache == "counter") canonical.settings.cache = "counter:host_int";
  canonical.ops.reserve(c.ops.size());
  RowStates states(c.settings.rows);
  Renamed graphs('g');
  Renamed pools('p');
  bool churned = false;  // the last churn holds blocks
  for (const Line<Op>& line : c.ops) {
    Op op = line.value;
    if (op.kind == OpKind::churn) {
      const bool nothing_happens = op.count == 0 && !churned;
      churned = op.count > 0;
      if (nothing_happens) continue;
    }
    if (names_rows(op.kind) && op.row == all_rows) op.row = states.only_row(op.kind);
    states.apply(op);
    graphs.rename(op.graph);
    pools.rename(op.pool);
    canonical.ops.push_back({std::move(op), {}, {}, {}});
  }
  return print_case(canonical);
}

}  // namespace thaw
