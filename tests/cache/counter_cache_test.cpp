// SPDX-License-Identifier: Apache-2.0
//
// What capture and replay do to each way of keeping a position: the table of CounterCache.
#include "cache/counter_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "cache/capture_rig.h"
#include "device/sim/sim_device.h"

namespace thaw {

void PrintTo(CounterMode mode, std::ostream* out) { *out << name_of(mode); }

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Slots frozen{{8}, {8}, {8}, {8}};
const Slots drifted{{8}, {9}, {10}, {11}};
const Slots nothing_written{{}, {}, {}, {}};

/// Prompt 5, three warm-up steps, a capture of the single-token step.
struct Captured {
  Captured(SimDevice& device, CounterMode mode, int64_t warm_ups = 3)
      : cache(one_row_on(device), mode), caller(cache) {
    prompt_and_warm_up(caller, warm_ups);
    caller.refill({1, {0}, {5}}, 9);
    graph = device.capture([&] { caller.run(); });
  }
  Slots four_replays() { return slots_of_four_replays(cache, caller, *graph); }

  CounterCache cache;
  Caller caller;
  std::unique_ptr<Graph> graph;
};

SimOptions freed_memory_left_alone() {
  SimOptions options;
  options.poison_freed = false;
  return options;
}

TEST(CounterCacheTable, host_int_freezes_at_the_slot_of_capture_time) {
  SimDevice device;
  Captured captured(device, CounterMode::host_int);
  EXPECT_TRUE(froze(*captured.graph, "8")) << "the position is a host value of a recorded node";
  EXPECT_EQ(captured.four_replays(), frozen);
}

TEST(CounterCacheTable, cpu_scalar_freezes_at_the_slot_of_capture_time) {
  SimDevice device;
  Captured captured(device, CounterMode::cpu_scalar);
  EXPECT_TRUE(froze(*captured.graph, "8"))
      << testing::PrintToString(host_values_of(*captured.graph));
  EXPECT_EQ(captured.four_replays(), frozen);
}

TEST(CounterCacheTable, device_rebind_freezes_as_long_as_freed_memory_is_left_alone) {
  SimDevice device(freed_memory_left_alone());
  Captured captured(device, CounterMode::device_rebind);
  EXPECT_EQ(captured.four_replays(), frozen);
}

TEST(CounterCacheTable, device_rebind_writes_nothing_once_freed_memory_is_filled) {
  SimDevice device;
  Captured captured(device, CounterMode::device_rebind);
  EXPECT_EQ(captured.four_replays(), nothing_written);
  EXPECT_EQ(refused_by(captured.cache), 0) << "0xFF bytes read as -1, which is padding";
}

TEST(CounterCacheTable, device_in_place_drifts_by_the_warm_ups) {
  SimDevice device;
  Captured captured(device, CounterMode::device_in_place);
  EXPECT_FALSE(froze(*captured.graph, "8"));
  EXPECT_EQ(captured.four_replays(), drifted);
}

TEST(CounterCacheTable, device_in_place_without_warm_ups_is_right) {
  SimDevice device;
  Captured captured(device, CounterMode::device_in_place, 0);
  EXPECT_EQ(captured.four_replays(), (Slots{{5}, {6}, {7}, {8}}));
}

TEST(CounterCacheTable, only_device_rebind_leaves_a_graph_on_freed_memory) {
  for (const CounterMode mode : counter_modes) {
    SimDevice device;
    Captured captured(device, mode);
    const bool expected = mode == CounterMode::device_rebind;
    EXPECT_EQ(freed_memory_of(*captured.graph, device) > 0, expected) << name_of(mode);
  }
}

// After a dummy pass of one token and one warm-up step somebody restores keys and values, five
// tokens of them, and nobody tells the counter.
TEST(CounterCacheScenario, device_in_place_goes_on_over_the_prompt_that_was_restored) {
  SimDevice device;
  CounterCache cache(one_row_on(device), CounterMode::device_in_place);
  Caller caller(cache);
  caller.step({1, {0}, {0}}, 1);
  caller.step({1, {0}, {1}}, 2);
  caller.refill({1, {0}, {1}}, 3);
  const auto graph = device.capture([&] { caller.run(); });
  cache.prepare({5, {0}, {0}});
  for (const Buffer& buffer : cache.buffers()) {
    if (buffer.role == Role::keys || buffer.role == Role::values) buffer.tensor.fill_(7);
  }
  EXPECT_EQ(slots_of_four_replays(cache, caller, *graph), (Slots{{2}, {3}, {4}, {5}}));
}

class EveryCounter : public testing::TestWithParam<CounterMode> {
 protected:
  CacheSpec spec(int64_t rows) const {
    CacheSpec spec = one_row_on(device_);
    spec.rows = rows;
    spec.slots = 8;
    return spec;
  }
  SimDevice device_;
};
INSTANTIATE_TEST_SUITE_P(Modes, EveryCounter, testing::ValuesIn(counter_modes),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(EveryCounter, ignores_the_positions_of_the_caller) {
  CounterCache cache(spec(1), GetParam());
  Caller caller(cache);
  caller.step({2, {0}, {0}}, 1);
  const CacheContents before(cache);
  caller.step({1, {0}, {6}}, 2);
  EXPECT_THAT(CacheContents(cache).slots_changed_since(before, 0), ElementsAre(2));
}

TEST_P(EveryCounter, takes_padding_from_the_rows_and_advances_only_those_that_take_part) {
  CounterCache cache(spec(3), GetParam());
  Caller caller(cache);
  caller.step({2, {2, -1, 1}, {0, -1, 0}}, 1);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(0, 2, 2));
  caller.step({1, {-1, 1}, {-1, 2}}, 2);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(0, 3, 2));
}

TEST_P(EveryCounter, stops_at_the_capacity_and_counts_what_it_refuses) {
  CounterCache cache(spec(1), GetParam());
  Caller caller(cache);
  caller.step({5, {0}, {0}}, 1);
  caller.step({5, {0}, {5}}, 2);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(8));
  EXPECT_EQ(refused_by(cache), 2);
  caller.step({1, {0}, {8}}, 3);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(8));
  EXPECT_EQ(refused_by(cache), 3);
}

TEST_P(EveryCounter, follows_reset_crop_reorder_and_copy) {
  CounterCache cache(spec(3), GetParam());
  Caller caller(cache);
  caller.step({3, {0, 1, 2}, {0, 0, 0}}, 1);
  cache.crop(1, 1);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(3, 1, 3));
  cache.reset(std::vector<int64_t>{2});
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(3, 1, 0));
  cache.reorder(std::vector<int64_t>{1, 2, 0}, std::vector<int64_t>{3, 1, 0});
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(1, 0, 3));
  cache.copy_row(2, 0, 3);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(3, 0, 3));
}

TEST_P(EveryCounter, follows_its_own_length_at_a_copy_whatever_the_caller_says) {
  CounterCache cache(spec(2), GetParam());
  Caller caller(cache);
  caller.step({2, {0}, {0}}, 1);
  caller.step({1, {0}, {2}}, 2);  // a warm-up, as far as the caller is concerned
  cache.copy_row(0, 1, 2);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(3, 3));
}

TEST_P(EveryCounter, records_the_same_operations_whichever_rows_take_part) {
  CounterCache cache(spec(3), GetParam());
  Caller caller(cache);
  const auto operations = [&](const StepPlan& plan) {
    caller.refill(plan, 1);
    const auto graph = device_.capture([&] { caller.run(); });
    std::vector<std::string> names;
    for (const GraphNode& node : graph->nodes()) names.push_back(node.operation);
    return names;
  };
  const auto all = operations({1, {0, 1, 2}, {0, 0, 0}});
  EXPECT_EQ(operations({1, {-1, -1, 1}, {-1, -1, 0}}), all);
  EXPECT_EQ(operations({1, {2, 0, -1}, {0, 0, -1}}), all);
}

TEST_P(EveryCounter, a_replay_takes_padding_from_the_rows_of_now) {
  CounterCache cache(spec(2), GetParam());
  Caller caller(cache);
  caller.refill({1, {0, -1}, {0, -1}}, 1);
  const auto graph = device_.capture([&] { caller.run(); });
  caller.refill({1, {-1, -1}, {-1, -1}}, 2);
  const CacheContents before(cache);
  graph->replay();
  EXPECT_EQ(CacheContents(cache), before);
  EXPECT_EQ(refused_by(cache), 0);
}

TEST_P(EveryCounter, names_its_counter_where_it_lies) {
  CounterCache cache(spec(2), GetParam());
  Caller caller(cache);
  const auto counters = [&] {
    std::vector<const void*> addresses;
    for (const Buffer& buffer : cache.buffers()) {
      if (buffer.role == Role::counter) addresses.push_back(buffer.tensor.const_data_ptr());
    }
    return addresses;
  };
  const auto before = counters();
  caller.step({3, {1}, {0}}, 1);
  switch (GetParam()) {
    case CounterMode::host_int:
    case CounterMode::cpu_scalar:
      EXPECT_THAT(before, IsEmpty());
      EXPECT_THAT(cache.host_state(), ElementsAre(0, 3));
      break;
    case CounterMode::device_rebind:
      EXPECT_NE(counters(), before);
      EXPECT_THAT(cache.host_state(), IsEmpty());
      break;
    case CounterMode::device_in_place:
      EXPECT_EQ(counters(), before);
      EXPECT_THAT(cache.host_state(), IsEmpty());
      break;
  }
}

}  // namespace
}  // namespace thaw
