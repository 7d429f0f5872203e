// SPDX-License-Identifier: Apache-2.0
//
// The ledger and its slow twin side by side, over seeded random ops: valid ones and invalid ones.
#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "case/op_table.h"
#include "ledger/ledger.h"
#include "ledger/naive_ledger.h"
#include "ledger/ops.h"
#include "ledger/random_ops.h"

namespace thaw {
namespace {

void expect_same_rows(const Ledger& ledger, const NaiveLedger& naive) {
  for (int64_t row = 0; row < ledger.rows(); ++row) {
    const NaiveLedger::Row& slow = naive.rows[static_cast<size_t>(row)];
    const RowState state = slow.live()   ? RowState::live
                           : slow.exists ? RowState::parked
                                         : RowState::idle;
    ASSERT_EQ(ledger.state().rows[static_cast<size_t>(row)].state, state) << "row " << row;
    ASSERT_EQ(ledger.length(row), static_cast<int64_t>(slow.entries.size())) << "row " << row;
    for (int64_t position = ledger.first_kept(row); position < ledger.length(row); ++position) {
      const auto& [writer, number] = slow.entries[static_cast<size_t>(position)];
      ASSERT_EQ(ledger.provenance(row, position).row, writer) << row << ", " << position;
      ASSERT_EQ(ledger.provenance(row, position).generation, number) << row << ", " << position;
    }
  }
}

void expect_same(const Ledger& ledger, const NaiveLedger& naive) {
  ASSERT_NO_FATAL_FAILURE(expect_same_rows(ledger, naive));
  ASSERT_EQ(ledger.refused(), naive.refused);
  ASSERT_EQ(ledger.state().graphs.size(), naive.graphs.size());
  for (size_t i = 0; i < naive.graphs.size(); ++i) {
    const LedgerState::Graph& graph = ledger.state().graphs[i];
    ASSERT_EQ(graph.name, naive.graphs[i].name);
    ASSERT_EQ(graph.q, naive.graphs[i].q) << graph.name;
    ASSERT_EQ(graph.bucket, naive.graphs[i].bucket) << graph.name;
  }
  ASSERT_EQ(ledger.state().stepped, naive.made_a_step);
  ASSERT_EQ(ledger.state().capture_fails, naive.armed[fail_capture]);
  ASSERT_EQ(ledger.state().replay_fails, naive.armed[fail_replay]);
}

/// What an op must not do before it is applied.
void expect_pure(const Ledger& ledger, const Op& op) {
  const LedgerState state = ledger.state();
  const int64_t refused = ledger.refused();
  const auto first = ledger.obstacle(op);
  ASSERT_EQ(ledger.objection(op).has_value(), first.has_value());
  ASSERT_EQ(ledger.obstacle(op), first);
  ASSERT_EQ(ledger.state(), state);
  ASSERT_EQ(ledger.refused(), refused);
}

struct Counts {
  int64_t applied = 0;
  int64_t rejected = 0;
  std::vector<int64_t> of_kind = std::vector<int64_t>(op_rows().size(), 0);
};

void walk(uint64_t seed, int64_t ops, Layout layout, Counts& counts) {
  RandomOps random(seed);
  const int64_t rows = random.between(1, 4);
  const int64_t slots = random.between(1, 10);
  Ledger ledger = ops::ledger_of(rows, slots, layout);
  NaiveLedger naive(rows, slots, layout != Layout::linear);
  int64_t number = random.between(0, 1) * 65500;  // some walks pass the end of the generations
  for (int64_t i = 0; i < ops; ++i) {
    const Op op = random.op(rows, slots);
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", op " << i << ", kind " << static_cast<int>(op.kind));
    ASSERT_NO_FATAL_FAILURE(expect_pure(ledger, op));
    ASSERT_EQ(!ledger.obstacle(op).has_value(), naive.allowed(op));
    if (!naive.allowed(op)) {
      ++counts.rejected;
      continue;
    }
    ASSERT_EQ(ledger.rows_of(op), naive.selected(op));
    if (Ledger::steps_of(op) > 0 || op.kind == OpKind::capture) {
      ASSERT_EQ(ops::plan_of(ledger, op), naive.step(op));
    }
    ++number;
    ledger.apply(op, number);
    naive.apply(op, number);
    ASSERT_NO_FATAL_FAILURE(expect_same(ledger, naive));
    ++counts.applied;
    ++counts.of_kind[static_cast<size_t>(op.kind)];
  }
}

TEST(Twin, the_ledger_agrees_with_its_slow_twin_on_what_is_allowed_and_on_what_it_does) {
  Counts counts;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    ASSERT_NO_FATAL_FAILURE(walk(seed, 120, Layout::linear, counts));
  }
  EXPECT_GT(counts.applied, 30'000);
  EXPECT_GT(counts.rejected, 5'000);
  for (size_t kind = 0; kind < counts.of_kind.size(); ++kind) {
    EXPECT_GT(counts.of_kind[kind], 300) << "kind " << kind;
  }
}

TEST(Twin, rule_R9_it_agrees_for_rings_and_rows_that_shift_too) {
  for (const Layout layout : {Layout::ring, Layout::shift}) {
    Counts counts;
    for (uint64_t seed = 1; seed <= 300; ++seed) {
      ASSERT_NO_FATAL_FAILURE(walk(seed, 120, layout, counts));
    }
    EXPECT_GT(counts.applied, 15'000);
    EXPECT_GT(counts.rejected, 3'000);
    for (size_t kind = 0; kind < counts.of_kind.size(); ++kind) {
      EXPECT_GT(counts.of_kind[kind], 50) << "kind " << kind;
    }
  }
}

TEST(Twin, a_whole_op_is_its_steps_one_by_one_each_planned_at_the_state_before_it) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomOps random(seed);
    const int64_t rows = random.between(1, 4);
    const int64_t slots = random.between(1, 10);
    Ledger whole = ops::ledger_of(rows, slots);
    Ledger stepwise = whole;
    NaiveLedger naive(rows, slots);
    for (int64_t number = 1; number <= 60; ++number) {
      const Op op = random.op(rows, slots);
      if (whole.obstacle(op)) continue;
      whole.apply(op, number);
      Op single = op;
      single.times = 1;
      for (int64_t step = 0; step < Ledger::steps_of(op); ++step) {
        ASSERT_EQ(ops::plan_of(stepwise, op), naive.step(op));
        stepwise.commit_step(op, number);
        naive.apply(single, number);
      }
      if (Ledger::steps_of(op) == 0) {
        stepwise.apply_without_steps(op, number);
        naive.apply(op, number);
      }
      ASSERT_EQ(whole.state(), stepwise.state());
      ASSERT_NO_FATAL_FAILURE(expect_same(whole, naive));
      ASSERT_NO_FATAL_FAILURE(expect_same(stepwise, naive));
    }
  }
}

TEST(Twin, states_met_on_random_walks_hash_equal_exactly_when_they_are_equal) {
  std::unordered_map<size_t, LedgerState> seen;
  int64_t met_again = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    RandomOps random(seed);
    Ledger ledger = ops::ledger_of(2, 4);
    for (int64_t number = 1; number <= 60; ++number) {
      const Op op = random.op(2, 4);
      if (ledger.obstacle(op)) continue;
      ledger.apply(op, number);
      const auto [place, fresh] = seen.emplace(hash_value(ledger.state()), ledger.state());
      ASSERT_EQ(place->second, ledger.state());
      met_again += fresh ? 0 : 1;
    }
  }
  EXPECT_GT(seen.size(), 500u);
  EXPECT_GT(met_again, 500);
}

}  // namespace
}  // namespace thaw
