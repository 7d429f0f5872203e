// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/layout.h"
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
  /// What a graph was captured for (R12, R14). Empty: its capture was refused or failed (R16).
  struct Graph {
    std::string name;
    int64_t q = 1;
    int64_t bucket = 1;     ///< it covers rows 0 to bucket - 1
    std::string pool = {};  ///< shared with the graphs of the same name for it; empty: its own
    bool empty = false;
    bool operator==(const Graph&) const = default;
  };
  std::vector<Row> rows;
  std::vector<Graph> graphs;   ///< in order of capture
  bool stepped = false;        ///< a step was made, so there is something to hold
  bool capture_fails = false;  ///< the next one, armed by `fail`
  bool replay_fails = false;
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
  /// `layout` is the cache's: rows of a ring, and rows that shift, never are full (R8, R9).
  explicit Ledger(const Settings& settings, Layout layout = Layout::linear);

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
  /// part, at which positions, with a place for each row of the bucket (R2, R5, R13, R14). The
  /// precondition must hold.
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
  Layout layout() const { return layout_; }
  /// Slots of a row. A ring has as many as its window, if it has one (R9).
  int64_t slots() const { return slots_; }
  /// How many positions, the last of a row, attention sees; 0: all.
  int64_t window() const { return window_; }
  int64_t length(int64_t row) const { return state_.rows[static_cast<size_t>(row)].length; }
  bool live(int64_t row) const {
    return state_.rows[static_cast<size_t>(row)].state == RowState::live;
  }
  const LedgerState::Graph* graph(const std::string& name) const;
  /// The graph that a step of `op` replays: the one that replay names, or that serve chooses
  /// (R17); nullptr if it runs eagerly.
  const LedgerState::Graph* graph_of(const Op& op) const;
  /// Entries refused since the beginning, warm-ups included (R8, R11).
  int64_t refused() const { return refused_; }
  /// The committed entries that are still there are those at positions [first_kept, length).
  int64_t first_kept(int64_t row) const {
    return layout_ == Layout::linear ? 0 : std::max<int64_t>(length(row) - slots_, 0);
  }
  /// What KvCache::locate is asked for where the entry of `position` is meant.
  int64_t position_for_locate(int64_t row, int64_t position) const {
    return layout_ == Layout::shift ? position - first_kept(row) : position;
  }
  /// Where the positions that a step of q tokens from `position` on writes end (R8).
  int64_t accepted_end(int64_t position, int64_t q) const {
    return layout_ == Layout::linear ? std::min(position + q, slots_) : position + q;
  }
  /// The first position that token `token` of a step from position `first` on sees: its window, and
  /// what the step's q tokens left of the row (R7, R9).
  int64_t first_seen(int64_t first, int64_t q, int64_t token) const {
    const int64_t end = first + token + 1;
    int64_t begin = window_ > 0 ? std::max<int64_t>(end - window_, 0) : 0;
    if (layout_ != Layout::linear) begin = std::max(begin, first + q - slots_);
    return std::min(begin, end);
  }
  /// Who wrote the committed entry at `position` of `row`; position in [first_kept, length).
  const Provenance& provenance(int64_t row, int64_t position) const {
    return provenance_[index(row, position)];
  }

 private:
  /// Of the steps of an op.
  struct Shape {
    int64_t q = 1;
    int64_t places = 1;
  };
  Shape shape_of(const Op& op) const;
  size_t index(int64_t row, int64_t position) const {
    const int64_t slot = layout_ == Layout::linear ? position : position % slots_;
    return static_cast<size_t>(row * slots_ + slot);
  }
  bool evicted_nothing(int64_t row) const {
    return layout_ == Layout::linear || length(row) <= slots_;
  }
  bool qualifies(const Op& op, int64_t row) const;
  bool takes_part(const Op& op, int64_t row) const;
  bool any_takes_part(const Op& op) const;
  std::optional<Obstacle> argument_obstacle(const Op& op) const;
  std::optional<Obstacle> row_obstacle(const Op& op) const;
  std::optional<Obstacle> copy_obstacle(const Op& op) const;
  std::optional<Obstacle> warmup_obstacle(const Op& op) const;
  void write(int64_t row, int64_t begin, int64_t end, int64_t number);
  void reorder(const std::vector<int64_t>& order);
  void copy(int64_t from, int64_t to);

  LedgerState state_;
  Layout layout_;
  int64_t case_slots_;  ///< the setting, which bounds what may be loaded or kept
  int64_t slots_;
  int64_t window_;
  int64_t refused_ = 0;
  std::vector<Provenance> provenance_;  ///< [rows, slots]
};

}  // namespace thaw
