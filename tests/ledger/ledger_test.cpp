// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/ops.h"

namespace thaw {
namespace {

using namespace ops;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Rows, R1_all_rows_begin_idle_with_length_0) {
  const Ledger ledger = ledger_of(3, 8);
  ASSERT_EQ(ledger.rows(), 3);
  for (const LedgerState::Row& row : ledger.state().rows) {
    EXPECT_EQ(row.state, RowState::idle);
    EXPECT_EQ(row.length, 0);
  }
}

TEST(Rows, R1_prefill_makes_live_park_keeps_the_sequence_and_reset_ends_it) {
  Ledger ledger = after(1, 8, {prefill(0, 3)});
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::live, 3}));
  ledger.apply(park(0), 2);
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::parked, 3}));
  ledger.apply(unpark(0), 3);
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::live, 3}));
  ledger.apply(reset(0), 4);
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::idle, 0}));
}

TEST(Rows, R1_reset_ends_a_parked_sequence_too) {
  const Ledger ledger = after(1, 8, {prefill(0, 3), park(0), reset(0)});
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::idle, 0}));
}

TEST(Batch, R2_a_plan_has_a_place_for_every_row_and_padded_places_have_minus_one_in_both) {
  const Ledger ledger = after(3, 8, {prefill(0, 3), prefill(2, 2), park(0)});
  const StepPlan plan = plan_of(ledger, decode(2));
  EXPECT_EQ(plan.q_len, 2);
  EXPECT_THAT(plan.rows, ElementsAre(-1, -1, 2));
  EXPECT_THAT(plan.positions, ElementsAre(-1, -1, 2));
}

TEST(Batch, R2_a_prefill_pads_the_rows_that_it_does_not_name) {
  const Ledger ledger = after(2, 8, {prefill(all_rows, 3)});
  const StepPlan plan = plan_of(ledger, prefill(1, 4));
  EXPECT_EQ(plan.q_len, 4);
  EXPECT_THAT(plan.rows, ElementsAre(-1, 1));
  EXPECT_THAT(plan.positions, ElementsAre(-1, 3));
}

TEST(Batch, R2_planning_into_a_used_plan_leaves_nothing_of_the_step_before) {
  const Ledger ledger = after(2, 8, {prefill(1, 3)});
  StepPlan plan{7, {4, 4, 4, 4}, {9, 9, 9, 9}};
  ledger.plan(decode(), plan);
  EXPECT_EQ(plan, (StepPlan{1, {-1, 1}, {-1, 3}}));
}

TEST(All, R3_all_means_the_rows_that_meet_the_precondition) {
  const Ledger ledger =
      after(4, 8, {prefill(0, 3), prefill(1, 5), prefill(2, 5), park(2)});  // row 3 is idle
  EXPECT_THAT(ledger.rows_of(prefill(all_rows, 1)), ElementsAre(0, 1, 3));
  EXPECT_THAT(ledger.rows_of(load(all_rows, 1)), ElementsAre(0, 1, 3));
  EXPECT_THAT(ledger.rows_of(reset(all_rows)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ledger.rows_of(crop(all_rows, 4)), ElementsAre(1));
  EXPECT_THAT(ledger.rows_of(park(all_rows)), ElementsAre(0, 1));
  EXPECT_THAT(ledger.rows_of(unpark(all_rows)), ElementsAre(2));
}

TEST(All, R3_rows_of_an_op_without_all_are_those_that_it_steps_or_changes) {
  const Ledger ledger = after(3, 8, {prefill(0, 3), prefill(2, 5), park(2), capture("g")});
  EXPECT_THAT(ledger.rows_of(prefill(1, 2)), ElementsAre(1));
  EXPECT_THAT(ledger.rows_of(decode()), ElementsAre(0));
  EXPECT_THAT(ledger.rows_of(warmup()), ElementsAre(0));
  EXPECT_THAT(ledger.rows_of(capture("h")), ElementsAre(0));
  EXPECT_THAT(ledger.rows_of(replay("g")), ElementsAre(0));
  EXPECT_THAT(ledger.rows_of(copy(2, 1)), ElementsAre(1));
  EXPECT_THAT(ledger.rows_of(reorder({0, 1, 2})), ElementsAre(0, 1, 2));
  EXPECT_THAT(ledger.rows_of(drop("g")), IsEmpty());
  EXPECT_THAT(ledger.rows_of(churn(3)), IsEmpty());
}

TEST(Steps, R4_only_prefill_decode_serve_warmup_and_replay_make_steps) {
  EXPECT_EQ(Ledger::steps_of(prefill(0, 5)), 1);
  EXPECT_EQ(Ledger::steps_of(decode(2, 3)), 3);
  EXPECT_EQ(Ledger::steps_of(serve(2, 3)), 3);
  EXPECT_EQ(Ledger::steps_of(warmup(2, 4)), 4);
  EXPECT_EQ(Ledger::steps_of(replay("g", 5)), 5);
  for (const Op& op :
       {load(0, 5), capture("g", 3), drop("g"), reset(0), crop(0, 1), reorder({0}), copy(0, 1),
        park(0), unpark(0), hold(), churn(4), sleep(), reseed(7), fail(fail_capture)}) {
    EXPECT_EQ(Ledger::steps_of(op), 0) << static_cast<int>(op.kind);
  }
}

TEST(Positions, R5_the_position_of_every_step_is_the_length_of_the_row_at_that_step) {
  Ledger ledger = after(2, 8, {prefill(0, 3), prefill(1, 1)});
  const Op op = decode(2, 2);
  EXPECT_THAT(plan_of(ledger, op).positions, ElementsAre(3, 1));
  ledger.commit_step(op, 3);
  EXPECT_THAT(plan_of(ledger, op).positions, ElementsAre(5, 3));
}

TEST(Positions, R5_a_capture_is_refilled_as_a_decode_of_its_q_would_be) {
  const Ledger ledger = after(3, 8, {prefill(0, 3), prefill(2, 5)});
  EXPECT_EQ(plan_of(ledger, capture("g", 3)), plan_of(ledger, decode(3)));
}

TEST(Generations, R6_the_generation_is_the_number_of_the_op_modulo_65536) {
  Ledger ledger = ledger_of(1, 8);
  ledger.apply(prefill(0, 2), 65535);
  ledger.apply(decode(), 65536);
  ledger.apply(decode(), 65537);
  EXPECT_THAT(generations(ledger, 0), ElementsAre(65535, 65535, 0, 1));
}

TEST(Commit, R7_a_step_commits_q_entries_of_each_row_of_the_batch_and_grows_its_length) {
  const Ledger ledger = after(3, 8, {prefill(0, 2), prefill(1, 4), park(1), decode(3)});
  EXPECT_THAT(generations(ledger, 0), ElementsAre(1, 1, 4, 4, 4));
  EXPECT_THAT(generations(ledger, 1), ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(ledger.state().rows[2], LedgerState::Row{});
}

TEST(Commit, R7_a_prefill_extends_a_live_row) {
  const Ledger ledger = after(1, 8, {prefill(0, 2), prefill(0, 3)});
  EXPECT_THAT(generations(ledger, 0), ElementsAre(1, 1, 2, 2, 2));
}

TEST(Commit, R7_entries_know_the_row_that_they_were_written_for) {
  const Ledger ledger = after(2, 4, {prefill(all_rows, 2)});
  EXPECT_THAT(written_for(ledger, 0), ElementsAre(0, 0));
  EXPECT_THAT(written_for(ledger, 1), ElementsAre(1, 1));
}

TEST(Capacity, R8_a_row_with_fewer_free_slots_takes_what_fits) {
  const Ledger ledger = after(2, 8, {prefill(0, 6), prefill(1, 2), decode(3)});
  EXPECT_THAT(generations(ledger, 0), ElementsAre(1, 1, 1, 1, 1, 1, 3, 3));
  EXPECT_THAT(generations(ledger, 1), ElementsAre(2, 2, 3, 3, 3));
  EXPECT_EQ(ledger.refused(), 1);
}

TEST(Capacity, R8_every_refused_entry_counts_once_per_row_and_token_and_step) {
  Ledger ledger = after(2, 4, {prefill(0, 4), prefill(1, 3)});
  EXPECT_EQ(ledger.refused(), 0);
  ledger.apply(decode(2, 3), 3);  // row 0 refuses 2 + 2 + 2, row 1 refuses 1 + 2 + 2
  EXPECT_EQ(ledger.refused(), 11);
  EXPECT_EQ(ledger.length(0), 4);
  EXPECT_EQ(ledger.length(1), 4);
}

TEST(Capacity, R8_a_full_row_still_takes_part_at_the_position_past_its_end) {
  const Ledger ledger = after(1, 4, {prefill(0, 4)});
  EXPECT_EQ(ledger.obstacle(decode()), std::nullopt);
  EXPECT_EQ(plan_of(ledger, decode()), (StepPlan{1, {0}, {4}}));
}

TEST(Capacity, R8_a_prompt_longer_than_the_row_fills_it) {
  const Ledger ledger = after(1, 4, {prefill(0, 9)});
  EXPECT_EQ(ledger.length(0), 4);
  EXPECT_EQ(ledger.refused(), 5);
}

TEST(Capacity, R8_refused_entries_are_not_forgotten_by_reset_or_crop) {
  const Ledger ledger = after(1, 4, {prefill(0, 6), crop(0, 1), reset(0)});
  EXPECT_EQ(ledger.refused(), 2);
}

TEST(Warmup, R11_a_warmup_commits_nothing_but_counts_what_it_refuses) {
  Ledger ledger = after(1, 8, {prefill(0, 6)});
  const LedgerState before = ledger.state();
  ledger.apply(warmup(4, 3), 2);
  EXPECT_EQ(ledger.state(), before);
  EXPECT_THAT(generations(ledger, 0), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_EQ(ledger.refused(), 6);
}

TEST(Warmup, R11_every_pass_of_a_warmup_is_planned_at_the_same_positions) {
  Ledger ledger = after(2, 8, {prefill(0, 3)});
  const Op op = warmup(2, 2);
  const StepPlan first = plan_of(ledger, op);
  ledger.commit_step(op, 2);
  EXPECT_EQ(plan_of(ledger, op), first);
  EXPECT_EQ(first, (StepPlan{2, {0, -1}, {3, -1}}));
}

TEST(Capture, R12_a_capture_commits_nothing_and_keeps_its_q) {
  Ledger ledger = after(2, 8, {prefill(0, 3)});
  const std::vector<LedgerState::Row> before = ledger.state().rows;
  ledger.apply(capture("g", 3), 2);
  EXPECT_EQ(ledger.state().rows, before);
  ASSERT_NE(ledger.graph("g"), nullptr);
  EXPECT_EQ(*ledger.graph("g"), (LedgerState::Graph{.name = "g", .q = 3, .bucket = 2}));
  EXPECT_EQ(ledger.graph("h"), nullptr);
}

TEST(Capture, R12_a_graph_is_fixed_neither_to_lengths_nor_to_who_was_in_the_batch) {
  Ledger early = after(2, 8, {capture("g", 2), prefill(0, 3), prefill(1, 1)});
  Ledger late = after(2, 8, {prefill(0, 3), prefill(1, 1), capture("g", 2)});
  EXPECT_EQ(early.state(), late.state());
  EXPECT_EQ(plan_of(early, replay("g")), plan_of(late, replay("g")));
}

TEST(Replay, R13_a_replay_steps_the_rows_that_are_live_now) {
  Ledger ledger = after(
      3, 8,
      {prefill(0, 1), prefill(1, 2), park(0), capture("g"), park(1), unpark(0), prefill(2, 3)});
  EXPECT_EQ(plan_of(ledger, replay("g")), (StepPlan{1, {0, -1, 2}, {1, -1, 3}}));
  ledger.apply(replay("g", 2), 8);
  EXPECT_EQ(ledger.length(0), 3);
  EXPECT_EQ(ledger.length(1), 2);
  EXPECT_EQ(ledger.length(2), 5);
}

TEST(Replay, R13_a_replay_with_no_live_row_is_allowed_and_changes_nothing) {
  Ledger ledger = after(2, 8, {prefill(0, 3), capture("g", 2), park(0)});
  EXPECT_EQ(ledger.obstacle(replay("g")), std::nullopt);
  EXPECT_EQ(plan_of(ledger, replay("g")), (StepPlan{2, {-1, -1}, {-1, -1}}));
  const LedgerState before = ledger.state();
  ledger.apply(replay("g", 3), 4);
  EXPECT_EQ(ledger.state(), before);
  EXPECT_EQ(ledger.refused(), 0);
}

TEST(Replay, R13_a_replay_has_the_effect_of_a_decode_with_the_q_of_the_graph) {
  const std::vector<Op> prefix = {prefill(0, 3), prefill(1, 6), capture("g", 3), capture("h", 1)};
  Ledger replayed = after(2, 8, prefix);
  Ledger decoded = replayed;
  replayed.apply(replay("g", 2), 5);
  decoded.apply(decode(3, 2), 5);
  EXPECT_EQ(replayed.state(), decoded.state());
  EXPECT_EQ(replayed.refused(), decoded.refused());
  EXPECT_EQ(generations(replayed, 0), generations(decoded, 0));
}

TEST(Buckets, R14_a_graph_steps_the_live_rows_of_its_bucket_and_no_others) {
  Ledger ledger = after(3, 8, {prefill(all_rows, 2), capture("g", 1, 2)});
  EXPECT_EQ(ledger.graph("g")->bucket, 2);
  EXPECT_EQ(plan_of(ledger, replay("g")), (StepPlan{1, {0, 1}, {2, 2}}));
  EXPECT_THAT(ledger.rows_of(replay("g")), ElementsAre(0, 1));
  ledger.apply(replay("g", 3), 3);
  EXPECT_EQ(ledger.length(0), 5);
  EXPECT_EQ(ledger.length(1), 5);
  EXPECT_EQ(ledger.length(2), 2);
}

TEST(Buckets, R14_a_warmup_may_have_one_too) {
  Ledger ledger = after(2, 4, {prefill(all_rows, 4)});
  EXPECT_EQ(plan_of(ledger, warmup(1, 1, 1)), (StepPlan{1, {0}, {4}}));
  ledger.apply(warmup(1, 2, 1), 2);
  EXPECT_EQ(ledger.refused(), 2);
}

TEST(Buckets, R2_rows_of_the_bucket_that_take_no_part_are_padded) {
  const Ledger ledger = after(3, 8, {prefill(1, 2), prefill(2, 2), capture("g", 2, 2)});
  EXPECT_EQ(plan_of(ledger, replay("g")), (StepPlan{2, {-1, 1}, {-1, 2}}));
}

TEST(Serve, R17_takes_the_smallest_graph_of_its_q_that_holds_all_live_rows) {
  Ledger ledger = after(3, 16,
                        {capture("all"), capture("two", 1, 2), capture("one", 1, 1),
                         capture("q", 3, 1), prefill(0, 2)});
  const auto taken = [&](const Op& op) {
    const LedgerState::Graph* graph = ledger.graph_of(op);
    return graph == nullptr ? "eager" : graph->name;
  };
  EXPECT_EQ(taken(serve()), "one");
  EXPECT_EQ(taken(serve(3)), "q");
  EXPECT_EQ(taken(serve(2)), "eager");
  ledger.apply(prefill(1, 2), 6);
  EXPECT_EQ(taken(serve()), "two");
  EXPECT_EQ(taken(serve(3)), "eager") << "row 1 is not in the bucket";
  ledger.apply(park(1), 7);
  EXPECT_EQ(taken(serve()), "one");
  ledger.apply(prefill(2, 2), 8);
  EXPECT_EQ(taken(serve()), "all");
}

TEST(Serve, R17_of_equal_graphs_it_takes_the_youngest) {
  Ledger ledger = after(2, 16, {capture("a", 1, 1), capture("b", 1, 1), prefill(0, 2)});
  EXPECT_EQ(ledger.graph_of(serve())->name, "b");
  ledger.apply(drop("b"), 4);
  EXPECT_EQ(ledger.graph_of(serve())->name, "a");
}

TEST(Serve, R17_its_effect_is_that_of_decode) {
  const std::vector<Op> before{prefill(0, 2), prefill(2, 15), capture("g", 2, 1), capture("h", 2)};
  Ledger served = after(3, 16, before);
  Ledger decoded = served;
  served.apply(serve(2, 3), 5);
  decoded.apply(decode(2, 3), 5);
  EXPECT_EQ(served.state(), decoded.state());
  EXPECT_EQ(served.refused(), decoded.refused());
  EXPECT_EQ(generations(served, 0), generations(decoded, 0));
}

TEST(Fail, R16_a_capture_that_is_made_to_fail_leaves_an_empty_graph) {
  Ledger ledger = after(1, 8, {fail(fail_capture), capture("g"), capture("h")});
  EXPECT_TRUE(ledger.graph("g")->empty);
  EXPECT_FALSE(ledger.graph("h")->empty) << "a failure is used up";
}

TEST(Fail, a_failure_stays_armed_until_a_graph_is_launched) {
  Ledger ledger = after(1, 8, {prefill(0, 1), capture("g"), fail(fail_replay), decode(), serve(2)});
  EXPECT_TRUE(ledger.state().replay_fails);
  ledger.apply(serve(), 6);
  EXPECT_FALSE(ledger.state().replay_fails) << "the server launched g";
  ledger.apply(fail(fail_replay), 7);
  ledger.apply(replay("g"), 8);
  EXPECT_FALSE(ledger.state().replay_fails);
}

TEST(Sleep, all_rows_become_idle_and_graphs_stay) {
  Ledger ledger = after(3, 8, {prefill(all_rows, 2), park(1), capture("g"), sleep()});
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(ledger.state().rows[static_cast<size_t>(row)], LedgerState::Row{});
  }
  EXPECT_NE(ledger.graph("g"), nullptr);
}

TEST(Layouts, R8_rows_of_rings_and_rows_that_shift_never_refuse) {
  for (const Layout layout : {Layout::ring, Layout::shift}) {
    Ledger ledger = after(1, 4, {prefill(0, 3), decode(3, 2)}, layout);
    EXPECT_EQ(ledger.length(0), 9);
    EXPECT_EQ(ledger.refused(), 0);
    EXPECT_EQ(ledger.first_kept(0), 5);
    EXPECT_THAT(generations(ledger, 0), ElementsAre(2, 2, 2, 2));
  }
}

TEST(Layouts, R9_the_window_is_the_number_of_slots_of_a_ring_and_none_means_all_slots) {
  Settings settings;
  settings.slots = 8;
  settings.window = 3;
  EXPECT_EQ(Ledger(settings, Layout::ring).slots(), 3);
  EXPECT_EQ(Ledger(settings, Layout::ring).window(), 3);
  EXPECT_EQ(Ledger(settings, Layout::linear).slots(), 8);
  EXPECT_EQ(Ledger(settings, Layout::linear).window(), 3);
  settings.window = 0;
  EXPECT_EQ(Ledger(settings, Layout::shift).slots(), 8);
  EXPECT_EQ(Ledger(settings, Layout::shift).window(), 8);
  EXPECT_EQ(Ledger(settings, Layout::linear).window(), 0);
}

TEST(Layouts, R9_entries_of_a_ring_keep_their_place_and_those_of_a_row_that_shifts_do_not) {
  const std::vector<Op> ops{prefill(0, 6)};
  EXPECT_EQ(after(1, 4, ops, Layout::ring).position_for_locate(0, 5), 5);
  EXPECT_EQ(after(1, 4, ops, Layout::shift).position_for_locate(0, 5), 3);
  EXPECT_EQ(after(1, 4, ops, Layout::shift).position_for_locate(0, 2), 0);
  EXPECT_EQ(after(1, 8, ops, Layout::shift).position_for_locate(0, 5), 5);
}

TEST(Layouts, R9_reorder_and_copy_take_whole_rows_along) {
  Ledger ledger = after(2, 3, {prefill(0, 4), decode(), copy(0, 1), reorder({1, 0})}, Layout::ring);
  EXPECT_EQ(ledger.length(1), 5);
  EXPECT_THAT(generations(ledger, 1), ElementsAre(1, 1, 2));
  EXPECT_THAT(written_for(ledger, 1), ElementsAre(0, 0, 0));
}

TEST(Graphs, R15_a_dropped_name_is_free_again_and_the_others_stay) {
  Ledger ledger = after(1, 8, {capture("a"), capture("b", 2), capture("c"), drop("b")});
  ASSERT_EQ(ledger.state().graphs.size(), 2u);
  EXPECT_EQ(ledger.state().graphs[0].name, "a");
  EXPECT_EQ(ledger.state().graphs[1].name, "c");
  EXPECT_EQ(ledger.obstacle(capture("b", 3)), std::nullopt);
  ledger.apply(capture("b", 3), 5);
  EXPECT_EQ(ledger.graph("b")->q, 3);
}

TEST(Graphs, R15_ops_on_rows_drop_no_graph) {
  const Ledger ledger = after(2, 8,
                              {prefill(0, 3), capture("g"), copy(0, 1), reorder({1, 0}), crop(0, 1),
                               park(0), reset(all_rows), churn(3)});
  EXPECT_NE(ledger.graph("g"), nullptr);
}

TEST(Graphs, R16_replaying_an_empty_graph_has_the_effect_of_the_full_one) {
  Ledger full = after(1, 8, {prefill(0, 3), capture("g", 2)});
  Ledger empty = full;
  empty.mark_empty("g");
  EXPECT_TRUE(empty.graph("g")->empty);
  EXPECT_NE(empty.state(), full.state());
  EXPECT_EQ(plan_of(empty, replay("g")), plan_of(full, replay("g")));
  full.apply(replay("g", 2), 3);
  empty.apply(replay("g", 2), 3);
  EXPECT_EQ(empty.state().rows, full.state().rows);
  EXPECT_EQ(generations(empty, 0), generations(full, 0));
}

TEST(Load, what_a_row_held_before_a_load_is_gone_and_its_length_is_N) {
  const Ledger ledger = after(2, 8, {prefill(0, 5), load(0, 3), load(1, 8)});
  EXPECT_THAT(generations(ledger, 0), ElementsAre(2, 2, 2));
  EXPECT_THAT(generations(ledger, 1), ElementsAre(3, 3, 3, 3, 3, 3, 3, 3));
  EXPECT_TRUE(ledger.live(1));
}

TEST(Load, all_loads_every_row_that_is_not_parked) {
  const Ledger ledger = after(3, 8, {prefill(0, 5), park(0), prefill(1, 2), load(all_rows, 4)});
  EXPECT_EQ(ledger.length(0), 5);
  EXPECT_EQ(ledger.length(1), 4);
  EXPECT_EQ(ledger.length(2), 4);
  EXPECT_THAT(written_for(ledger, 2), ElementsAre(2, 2, 2, 2));
}

TEST(Crop, a_cropped_row_goes_on_from_its_new_length) {
  const Ledger ledger = after(1, 8, {prefill(0, 5), crop(0, 2), decode(2)});
  EXPECT_THAT(generations(ledger, 0), ElementsAre(1, 1, 3, 3));
}

TEST(Crop, a_row_cropped_to_nothing_stays_live) {
  const Ledger ledger = after(1, 8, {prefill(0, 5), crop(0, 0)});
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::live, 0}));
}

TEST(Crop, all_crops_only_rows_that_are_long_enough) {
  const Ledger ledger = after(3, 8, {prefill(0, 5), prefill(1, 2), crop(all_rows, 3)});
  EXPECT_EQ(ledger.length(0), 3);
  EXPECT_EQ(ledger.length(1), 2);
}

TEST(Reorder, row_i_takes_state_length_and_tags_of_the_old_row_that_is_named) {
  const Ledger ledger =
      after(3, 8, {prefill(0, 1), prefill(1, 2), park(1), reorder({1, 2, 0})});  // row 2 is idle
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::parked, 2}));
  EXPECT_EQ(ledger.state().rows[1], (LedgerState::Row{RowState::idle, 0}));
  EXPECT_EQ(ledger.state().rows[2], (LedgerState::Row{RowState::live, 1}));
  EXPECT_THAT(written_for(ledger, 0), ElementsAre(1, 1));
  EXPECT_THAT(generations(ledger, 0), ElementsAre(2, 2));
  EXPECT_THAT(written_for(ledger, 2), ElementsAre(0));
}

TEST(Reorder, a_row_may_be_taken_more_than_once) {
  const Ledger ledger = after(3, 8, {prefill(0, 1), prefill(1, 3), reorder({1, 1, 1})});
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_TRUE(ledger.live(row));
    EXPECT_THAT(written_for(ledger, row), ElementsAre(1, 1, 1));
  }
}

TEST(Copy, the_copy_is_live_with_length_and_tags_of_a_parked_original_that_stays_parked) {
  const Ledger ledger = after(2, 8, {prefill(0, 3), decode(), park(0), prefill(1, 6), copy(0, 1)});
  EXPECT_EQ(ledger.state().rows[0], (LedgerState::Row{RowState::parked, 4}));
  EXPECT_EQ(ledger.state().rows[1], (LedgerState::Row{RowState::live, 4}));
  EXPECT_THAT(written_for(ledger, 1), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(generations(ledger, 1), ElementsAre(1, 1, 1, 2));
}

TEST(Copy, original_and_copy_go_separate_ways) {
  const Ledger ledger = after(2, 8, {prefill(0, 3), copy(0, 1), crop(0, 1), decode()});
  EXPECT_THAT(generations(ledger, 0), ElementsAre(1, 4));
  EXPECT_THAT(generations(ledger, 1), ElementsAre(1, 1, 1, 4));
}

TEST(Park, all_parks_the_live_and_unparks_the_parked) {
  Ledger ledger = after(3, 8, {prefill(0, 3), prefill(1, 2), park(all_rows)});
  EXPECT_EQ(ledger.state().rows[0].state, RowState::parked);
  EXPECT_EQ(ledger.state().rows[1].state, RowState::parked);
  EXPECT_EQ(ledger.state().rows[2].state, RowState::idle);
  ledger.apply(unpark(all_rows), 4);
  EXPECT_TRUE(ledger.live(0));
  EXPECT_TRUE(ledger.live(1));
  EXPECT_FALSE(ledger.live(2));
}

TEST(State, equal_states_hash_equal_however_they_came_about) {
  const Ledger direct = after(2, 8, {prefill(0, 3), capture("g")});
  const Ledger detour = after(2, 8,
                              {capture("h"), load(1, 8), reset(1), drop("h"), prefill(0, 8),
                               warmup(), capture("g"), crop(0, 3), park(0), unpark(0)});
  EXPECT_EQ(direct.state(), detour.state());
  EXPECT_EQ(hash_value(direct.state()), hash_value(detour.state()));
}

TEST(State, what_may_come_next_is_in_the_state_and_who_wrote_what_is_not) {
  const LedgerState base = after(2, 8, {prefill(0, 3)}).state();
  EXPECT_EQ(base, after(2, 8, {prefill(1, 1), reset(1), load(0, 3)}).state());
  EXPECT_NE(base, after(2, 8, {load(0, 3)}).state()) << "there is nothing to hold";
  EXPECT_NE(base, after(2, 8, {prefill(0, 4)}).state());
  EXPECT_NE(base, after(2, 8, {prefill(1, 3)}).state());
  EXPECT_NE(base, after(2, 8, {prefill(0, 3), park(0)}).state());
  EXPECT_NE(base, after(2, 8, {prefill(0, 3), capture("g")}).state());
  EXPECT_NE(after(1, 8, {capture("g")}).state(), after(1, 8, {capture("g", 2)}).state());
  EXPECT_NE(after(1, 8, {capture("g")}).state(), after(1, 8, {capture("h")}).state());
  EXPECT_NE(after(2, 8, {capture("g")}).state(), after(2, 8, {capture("g", 1, 1)}).state());
  EXPECT_NE(after(1, 8, {capture("g")}).state(), after(1, 8, {capture("g", 1, 0, "p")}).state());
  EXPECT_NE(LedgerState{}, after(0, 8, {fail(fail_capture)}).state());
  EXPECT_NE(after(0, 8, {fail(fail_replay)}).state(), after(0, 8, {fail(fail_capture)}).state());
}

TEST(State, a_copied_ledger_is_a_value) {
  const Ledger original = after(1, 8, {prefill(0, 3)});
  Ledger copied = original;
  copied.apply(load(0, 5), 2);
  EXPECT_EQ(original.length(0), 3);
  EXPECT_THAT(generations(original, 0), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace thaw
