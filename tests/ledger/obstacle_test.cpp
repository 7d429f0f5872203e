// SPDX-License-Identifier: Apache-2.0
#include "ledger/obstacle.h"

#include <gtest/gtest.h>

#include "ledger/ledger.h"
#include "ledger/ops.h"

namespace thaw {
namespace {

using namespace ops;
using Kind = Obstacle::Kind;

std::string objection(const Ledger& ledger, const Op& op) {
  return ledger.objection(op).value_or("none");
}

/// Row 0 live with length 4, row 1 parked with length 3, row 2 idle; graphs g and h.
Ledger one_of_each() {
  return after(3, 8, {prefill(0, 4), prefill(1, 3), park(1), capture("g"), capture("h", 2)});
}

TEST(Precondition, prefill_and_load_need_rows_that_are_not_parked) {
  const Ledger ledger = one_of_each();
  for (const int64_t row : {int64_t{0}, int64_t{2}, all_rows}) {
    EXPECT_EQ(objection(ledger, prefill(row, 1)), "none");
    EXPECT_EQ(objection(ledger, load(row, 1)), "none");
  }
  EXPECT_EQ(objection(ledger, prefill(1, 1)), "prefill: row 1 is parked; 'unpark 1' first");
  EXPECT_EQ(objection(ledger, load(1, 1)), "load: row 1 is parked; 'unpark 1' first");
}

TEST(Precondition, a_load_fits_its_row_and_a_prefill_need_not) {
  const Ledger ledger = ledger_of(1, 8);
  EXPECT_EQ(objection(ledger, load(0, 8)), "none");
  EXPECT_EQ(objection(ledger, load(0, 9)), "load: N must be 1 to 8, found 9");
  EXPECT_EQ(objection(ledger, load(0, 0)), "load: N must be 1 to 8, found 0");
  EXPECT_EQ(objection(ledger, prefill(0, 9)), "none");
  EXPECT_EQ(objection(ledger, prefill(0, 4096)), "none");
  EXPECT_EQ(objection(ledger, prefill(0, 4097)), "prefill: N must be 1 to 4096, found 4097");
  EXPECT_EQ(objection(ledger, prefill(0, 0)), "prefill: N must be 1 to 4096, found 0");
}

TEST(Precondition, decode_needs_a_live_row_and_says_what_the_rows_are) {
  Ledger ledger = after(2, 8, {prefill(1, 3), park(1)});
  EXPECT_EQ(objection(ledger, decode()),
            "decode: no live row here (row 0 idle, row 1 parked with length 3); 'prefill ROWS N' "
            "or 'unpark ROWS' first");
  ledger.apply(unpark(1), 3);
  EXPECT_EQ(objection(ledger, decode(4, 100)), "none");
}

TEST(Precondition, R11_a_warmup_with_no_live_row_is_a_step_of_padding_only) {
  const Ledger ledger = ledger_of(2, 8);
  EXPECT_EQ(objection(ledger, warmup(3, 2)), "none");
  EXPECT_EQ(plan_of(ledger, warmup(3)), (StepPlan{3, {-1, -1}, {-1, -1}}));
}

TEST(Precondition, R12_a_capture_needs_no_live_row) {
  EXPECT_EQ(objection(ledger_of(1, 8), capture("g")), "none");
}

TEST(Precondition, R15_a_name_is_captured_once) {
  Ledger ledger = one_of_each();
  EXPECT_EQ(objection(ledger, capture("g", 2)),
            "capture: graph 'g' exists; 'drop g' first or take another name");
  EXPECT_EQ(objection(ledger, capture("i")), "none");
  ledger.apply(drop("g"), 6);
  EXPECT_EQ(objection(ledger, capture("g", 2)), "none");
}

TEST(Precondition, replay_and_drop_need_a_graph_and_say_which_there_are) {
  Ledger ledger = one_of_each();
  EXPECT_EQ(objection(ledger, replay("g")), "none");
  EXPECT_EQ(objection(ledger, drop("h")), "none");
  EXPECT_EQ(objection(ledger, replay("i")), "replay: no graph 'i' here; captured so far: g, h");
  EXPECT_EQ(objection(ledger, drop("i")), "drop: no graph 'i' here; captured so far: g, h");
  EXPECT_EQ(objection(ledger_of(1, 8), replay("g")),
            "replay: no graph 'g' here; captured so far: none");
}

TEST(Precondition, reset_takes_every_row) {
  const Ledger ledger = one_of_each();
  for (const int64_t row : {int64_t{0}, int64_t{1}, int64_t{2}, all_rows}) {
    EXPECT_EQ(objection(ledger, reset(row)), "none");
  }
}

TEST(Precondition, crop_needs_a_live_row_that_is_long_enough) {
  const Ledger ledger = one_of_each();
  EXPECT_EQ(objection(ledger, crop(0, 0)), "none");
  EXPECT_EQ(objection(ledger, crop(0, 4)), "none");
  EXPECT_EQ(objection(ledger, crop(0, 6)),
            "crop: row 0 has length 4 here, cannot crop to 6 (L at most 4)");
  EXPECT_EQ(objection(ledger, crop(1, 2)), "crop: row 1 is parked; 'unpark 1' first");
  EXPECT_EQ(objection(ledger, crop(2, 0)),
            "crop: row 2 is idle here, it has no sequence; 'prefill 2 N' first");
}

TEST(Precondition, reorder_takes_one_row_number_for_each_row) {
  const Ledger ledger = one_of_each();
  EXPECT_EQ(objection(ledger, reorder({2, 2, 0})), "none");
  EXPECT_EQ(objection(ledger, reorder({1, 0})),
            "reorder: 2 row numbers for 3 rows; one for each row");
  EXPECT_EQ(objection(ledger, reorder({0, 3, 1})),
            "reorder: row must be 0 to 2, found 3; the case has 3 rows ('rows' sets how many)");
  EXPECT_EQ(ledger.obstacle(reorder({0, 3, 1}))->word, 2);
}

TEST(Precondition, copy_goes_from_a_sequence_to_another_row_that_is_not_parked) {
  const Ledger ledger = one_of_each();
  EXPECT_EQ(objection(ledger, copy(0, 2)), "none");
  EXPECT_EQ(objection(ledger, copy(1, 0)), "none");
  EXPECT_EQ(objection(ledger, copy(1, 1)),
            "copy: row 1 onto itself; FROM and TO must be different rows");
  EXPECT_EQ(objection(ledger, copy(2, 0)),
            "copy: row 2 is idle here, it has no sequence; 'prefill 2 N' first");
  EXPECT_EQ(objection(ledger, copy(0, 1)), "copy: row 1 is parked; 'unpark 1' first");
}

TEST(Precondition, park_needs_a_live_row_and_unpark_a_parked_one) {
  const Ledger ledger = one_of_each();
  EXPECT_EQ(objection(ledger, park(0)), "none");
  EXPECT_EQ(objection(ledger, unpark(1)), "none");
  EXPECT_EQ(objection(ledger, park(1)), "park: row 1 is parked; 'unpark 1' first");
  EXPECT_EQ(objection(ledger, park(2)),
            "park: row 2 is idle here, it has no sequence; 'prefill 2 N' first");
  EXPECT_EQ(objection(ledger, unpark(2)),
            "unpark: row 2 is not parked here (row 0 live with length 4, row 1 parked with length "
            "3, row 2 idle); take a parked row");
}

TEST(Precondition, churn_takes_0_to_64_blocks) {
  const Ledger ledger = ledger_of(1, 8);
  EXPECT_EQ(objection(ledger, churn(0)), "none");
  EXPECT_EQ(objection(ledger, churn(64)), "none");
  EXPECT_EQ(objection(ledger, churn(65)), "churn: N must be 0 to 64, found 65");
}

TEST(Precondition, serve_needs_a_live_row) {
  EXPECT_EQ(objection(after(1, 8, {}), serve()),
            "serve: no live row here (row 0 idle); 'prefill ROWS N' or 'unpark ROWS' first");
}

TEST(Precondition, hold_needs_a_step) {
  EXPECT_EQ(objection(after(1, 8, {load(0, 2)}), hold()),
            "hold: no step was made yet, so there is nothing to keep; 'prefill ROWS N' first");
  EXPECT_EQ(objection(after(1, 8, {warmup()}), hold()), "none");
}

TEST(Precondition, a_failure_is_armed_once) {
  EXPECT_EQ(objection(after(1, 8, {fail(fail_capture)}), fail(fail_replay)), "none");
  EXPECT_EQ(objection(after(1, 8, {fail(fail_capture)}), fail(fail_capture)),
            "fail: the next capture fails already; 'capture G' first");
  EXPECT_EQ(objection(after(1, 8, {fail(fail_replay)}), fail(fail_replay)),
            "fail: the next replay fails already; 'replay G' first");
}

TEST(Precondition, R14_a_bucket_has_at_most_all_rows) {
  EXPECT_EQ(objection(after(2, 8, {}), capture("g", 1, 3)),
            "capture: rows must be 1 to 2, found 3");
  EXPECT_EQ(objection(after(2, 8, {}), capture("g", 1, 2)), "none");
}

TEST(Precondition, R9_what_a_full_ring_evicted_cannot_be_cropped_or_warmed_up) {
  for (const Layout layout : {Layout::ring, Layout::shift}) {
    const Ledger full = after(1, 4, {prefill(0, 4)}, layout);
    EXPECT_EQ(objection(full, crop(0, 2)), "none");
    EXPECT_EQ(objection(full, warmup()),
              "warmup: row 0 has length 4 here and 4 slots, so a pass of 1 would evict entries, "
              "which cannot be undone; warm up before the row is full");
    EXPECT_EQ(objection(after(1, 4, {prefill(0, 2)}, layout), warmup(2)), "none");
    const Ledger longer = after(2, 4, {prefill(0, 5), prefill(1, 2)}, layout);
    EXPECT_EQ(objection(longer, crop(0, 2)),
              "crop: row 0 has length 5 here and 4 slots, so its first entries are gone; crop "
              "before the row is full");
    EXPECT_THAT(longer.rows_of(crop(all_rows, 1)), testing::ElementsAre(1));
    EXPECT_EQ(objection(longer, capture("g")), "none");
  }
  EXPECT_EQ(objection(after(1, 4, {prefill(0, 4)}), warmup()), "none");
}

TEST(Precondition, R3_all_needs_at_least_one_row) {
  const Ledger parked = after(2, 8, {prefill(all_rows, 3), park(all_rows)});
  EXPECT_EQ(objection(parked, prefill(all_rows, 1)),
            "prefill: 'all' finds no row that is idle or live (row 0 parked with length 3, row 1 "
            "parked with length 3); 'unpark ROWS' first");
  EXPECT_EQ(objection(parked, load(all_rows, 1)),
            "load: 'all' finds no row that is idle or live (row 0 parked with length 3, row 1 "
            "parked with length 3); 'unpark ROWS' first");
  EXPECT_EQ(objection(parked, park(all_rows)),
            "park: 'all' finds no row that is live (row 0 parked with length 3, row 1 parked with "
            "length 3); 'prefill ROWS N' or 'unpark ROWS' first");
  const Ledger live = after(2, 8, {prefill(0, 4)});
  EXPECT_EQ(objection(live, unpark(all_rows)),
            "unpark: 'all' finds no row that is parked (row 0 live with length 4, row 1 idle); "
            "'park ROWS' first");
  EXPECT_EQ(objection(live, crop(all_rows, 5)),
            "crop: 'all' finds no row that is live with length 5 or more (row 0 live with length "
            "4, row 1 idle); take a smaller L or make a row longer first");
}

TEST(Precondition, every_op_that_names_rows_needs_rows_that_there_are) {
  const Ledger ledger = ledger_of(2, 8);
  for (const Op& op : {prefill(2, 1), load(2, 1), reset(2), crop(2, 0), park(2), unpark(2),
                       copy(2, 0), copy(0, 2)}) {
    ASSERT_TRUE(ledger.obstacle(op)) << static_cast<int>(op.kind);
    EXPECT_EQ(ledger.obstacle(op)->kind, Kind::no_such_row);
    EXPECT_EQ(ledger.obstacle(op)->row, 2);
  }
  EXPECT_EQ(ledger.obstacle(copy(2, 0))->word, 1);
  EXPECT_EQ(ledger.obstacle(copy(0, 2))->word, 2);
  EXPECT_EQ(objection(ledger_of(1, 8), park(1)),
            "park: row must be 0 to 0, found 1; the case has 1 row ('rows' sets how many)");
}

}  // namespace
}  // namespace thaw
