// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cache/step_plan.h"
#include "case/case.h"

namespace thaw {

/// The slow twin of the ledger: a row is a list of who wrote each entry, and every op is spelled
/// out by itself, entry by entry, from the table of section 4. It shares no code with the ledger.
class NaiveLedger {
 public:
  using Entry = std::pair<int64_t, int64_t>;  ///< row and op number that wrote it

  struct Row {
    bool exists = false;  ///< has a sequence: live or parked
    bool parked = false;
    std::vector<Entry> entries;
    bool live() const { return exists && !parked; }
  };

  struct Graph {
    std::string name;
    int64_t q;
    int64_t bucket;
  };

  /// `rolling`: rows keep their last entries, as rings do and rows that shift.
  NaiveLedger(int64_t rows, int64_t slots, bool rolling = false)
      : rows(static_cast<size_t>(rows)), slots(static_cast<size_t>(slots)), rolling(rolling) {}

  bool allowed(const Op& op) const;
  std::vector<int64_t> selected(const Op& op) const;
  /// One step's places, or those of a capture.
  StepPlan step(const Op& op) const;
  void apply(const Op& op, int64_t number);

  std::vector<Row> rows;
  size_t slots;
  bool rolling;
  std::vector<Graph> graphs;  ///< in order of capture
  int64_t refused = 0;
  bool made_a_step = false;
  bool armed[2] = {false, false};  ///< captures, replays

 private:
  const Graph* named(const std::string& name) const;
  /// Which graph a server takes.
  const Graph* dispatched(int64_t q) const;
  const Graph* replayed(const Op& op) const;
  int64_t places(const Op& op) const;
  bool row_allowed(const Op& op, size_t row) const;
  int64_t tokens(const Op& op) const;
  void make_step(const Op& op, int64_t number);
};

}  // namespace thaw
