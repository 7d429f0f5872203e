// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/step_plan.h"
#include "case/case.h"
#include "ledger/obstacle.h"

namespace thaw {

enum class RowState : uint8_t { idle, live, parked };

/// The part of the ledger that says what may come next; provenance and counts are not in it.
struct LedgerState {
  struct Row {
    RowState state = RowState::idle;
    int64_t length = 0;
    bool operator==(const Row&) const = default;
  };
  /// What a graph was captured for (R12). Empty: its capture was refused (R16).
  struct Graph {
    std::string name;
    int64_t q = 1;
    bool empty = false;
    bool operator==(const Graph&) const = default;
  };
  std::vector<Row> rows;
  std::vector<Graph> graphs;  ///< in order of capture
  bool operator==(const LedgerState&) const = default;
};
size_t hash_value(const LedgerState& state);

/// Who wrote an entry: the row it was written for and the op, modulo 65536. Its position is its
/// index. Reorder and copy carry entries along unchanged.
struct Provenance {
  uint8_t row = 0;
  uint16_t generation = 0;
  bool operator==(const Provenance&) const = default;
};

/// The reference model: what every slot must hold and how long every row is. Pure integers; knows
/// nothing of tensors. Preconditions are separate from effects (R22), so that whoever makes cases
/// makes valid ones only.
class Ledger {
 public:
  explicit Ledger(const Settings& settings);

  /// The first precondition of section 4 that `op` breaks now; nothing if it can be applied.
  std::optional<Obstacle> obstacle(const Op& op) const;
  /// The same, in the words of section 6 without its position.
  std::optional<std::string> objection(const Op& op) const;

  /// The rows that `op` steps or changes, `all` resolved (R3), in ascending order; for capture
  /// those that it would step.
  void rows_of(const Op& op, std::vector<int64_t>& rows) const;
  std::vector<int64_t> rows_of(const Op& op) const;

  /// How many steps `op` makes: 0 for ops that make none.
  static int64_t steps_of(const Op& op);

  /// The next step of an op that makes steps, or what is refilled before a capture: who takes
  /// part, at which positions (R2, R5, R13). The precondition must hold.
  void plan(const Op& op, StepPlan& plan) const;
  /// Commits one step of `op`, planned at this state (R7, R8); a warm-up only counts what is
  /// refused (R11). `number` is the op's number, from 1.
  void commit_step(const Op& op, int64_t number);
  /// The effect of an op that makes no steps. The precondition must hold.
  void apply_without_steps(const Op& op, int64_t number);
  /// The whole op: all its steps, or its effect.
  void apply(const Op& op, int64_t number);

  /// A capture was refused: its graph is empty from now on (R16).
  void mark_empty(const std::string& graph);

  const LedgerState& state() const { return state_; }
  int64_t rows() const { return static_cast<int64_t>(state_.rows.size()); }
  int64_t slots() const { return slots_; }
  int64_t length(int64_t row) const { return state_.rows[static_cast<size_t>(row)].length; }
  bool live(int64_t row) const {
    return state_.rows[static_cast<size_t>(row)].state == RowState::live;
  }
  const LedgerState::Graph* graph(const std::string& name) const;
  /// Entries refused since the beginning, warm-ups included (R8, R11).
  int64_t refused() const { return refused_; }
  /// Who wrote the committed entry at `position` of `row`; position below length(row).
  const Provenance& provenance(int64_t row, int64_t position) const {
    return provenance_[static_cast<size_t>(row * slots_ + position)];
  }

 private:
  bool qualifies(const Op& op, int64_t row) const;
  bool takes_part(const Op& op, int64_t row) const;
  bool any_takes_part(const Op& op) const;
  int64_t tokens_of(const Op& op) const;
  std::optional<Obstacle> argument_obstacle(const Op& op) const;
  std::optional<Obstacle> row_obstacle(const Op& op) const;
  std::optional<Obstacle> copy_obstacle(const Op& op) const;
  void write(int64_t row, int64_t begin, int64_t end, int64_t number);
  void reorder(const std::vector<int64_t>& order);
  void copy(int64_t from, int64_t to);

  LedgerState state_;
  int64_t slots_;
  int64_t refused_ = 0;
  std::vector<Provenance> provenance_;  ///< [rows, slots]
};

}  // namespace thaw
