// SPDX-License-Identifier: Apache-2.0
//
// The rules of StaticCache that only a capture can break.
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>

#include "cache/capture_rig.h"
#include "cache/static_cache.h"
#include "cache/twin.h"
#include "device/sim/sim_device.h"

namespace thaw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StaticCacheInCapture : public testing::TestWithParam<Kernels> {
 protected:
  CacheSpec spec(int64_t rows = 1) const {
    CacheSpec spec = one_row_on(device_);
    spec.rows = rows;
    spec.kernels = GetParam();
    return spec;
  }

  SimDevice device_;
};
INSTANTIATE_TEST_SUITE_P(Kernels, StaticCacheInCapture,
                         testing::Values(Kernels::registered, Kernels::torch),
                         [](const auto& info) {
                           return info.param == Kernels::torch ? "torch" : "registered";
                         });

TEST_P(StaticCacheInCapture, rule_1_replays_write_where_the_caller_says) {
  StaticCache cache(spec());
  Caller caller(cache);
  prompt_and_warm_up(caller, 3);
  caller.refill({1, {0}, {5}}, 9);
  const auto graph = device_.capture([&] { caller.run(); });
  EXPECT_EQ(slots_of_four_replays(cache, caller, *graph), (Slots{{5}, {6}, {7}, {8}}));
}

TEST_P(StaticCacheInCapture, rule_1_captures_at_two_positions_freeze_the_same_host_values) {
  StaticCache cache(spec());
  Caller caller(cache);
  caller.refill({1, {0}, {5}}, 1);
  const auto early = device_.capture([&] { caller.run(); });
  caller.refill({1, {0}, {13}}, 2);
  const auto late = device_.capture([&] { caller.run(); });
  EXPECT_EQ(host_values_of(*early), host_values_of(*late));
  EXPECT_FALSE(froze(*late, "13"));
}

TEST_P(StaticCacheInCapture, rule_2_a_replay_serves_other_rows_positions_and_padding) {
  StaticCache cache(spec(3));
  Caller caller(cache);
  caller.refill({2, {0, -1, 2}, {4, -1, 6}}, 1);
  const auto graph = device_.capture([&] { caller.run(); });

  caller.refill({2, {2, 1, -1}, {1, 9, -1}}, 2);
  const CacheContents before(cache);
  graph->replay();
  const CacheContents after(cache);
  EXPECT_THAT(after.slots_changed_since(before, 0), IsEmpty());
  EXPECT_THAT(after.slots_changed_since(before, 1), ElementsAre(9, 10));
  EXPECT_THAT(after.slots_changed_since(before, 2), ElementsAre(1, 2));
  EXPECT_EQ(after.at({0, 1, 0, 10, Role::keys}),
            entry_of(cache.spec(), {0, 1, 0, 10, Role::keys}, 2));
}

TEST_P(StaticCacheInCapture, rule_2_a_replay_past_the_end_skips_and_counts) {
  StaticCache cache(spec());
  Caller caller(cache);
  caller.refill({3, {0}, {4}}, 1);
  const auto graph = device_.capture([&] { caller.run(); });
  EXPECT_EQ(refused_by(cache), 0);
  caller.refill({3, {0}, {15}}, 2);
  const CacheContents before(cache);
  graph->replay();
  EXPECT_THAT(CacheContents(cache).slots_changed_since(before, 0), ElementsAre(15));
  EXPECT_EQ(refused_by(cache), 2);
}

TEST_P(StaticCacheInCapture, rule_3_warm_up_and_capture_move_no_length) {
  StaticCache cache(spec());
  Caller caller(cache);
  prompt_and_warm_up(caller, 3);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(5));
  const auto graph = device_.capture([&] { caller.run(); });
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(5));
  cache.copy_row(0, 0, 5);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(5));
}

TEST_P(StaticCacheInCapture, rule_4_a_graph_goes_on_serving_rows_that_changed) {
  StaticCache cache(spec(2));
  Caller caller(cache);
  caller.step({3, {0, 1}, {0, 0}}, 1);
  caller.refill({1, {0, 1}, {3, 3}}, 2);
  const auto graph = device_.capture([&] { caller.run(); });
  cache.crop(0, 2);
  cache.reorder(std::vector<int64_t>{1, 0}, std::vector<int64_t>{2, 3});
  cache.reset(std::vector<int64_t>{1});
  EXPECT_EQ(freed_memory_of(*graph, device_), 0);

  caller.refill({1, {0, 1}, {3, 0}}, 3);
  const CacheContents before(cache);
  graph->replay();
  const CacheContents after(cache);
  EXPECT_THAT(after.slots_changed_since(before, 0), ElementsAre(3));
  EXPECT_THAT(after.slots_changed_since(before, 1), ElementsAre(0));
  EXPECT_EQ(after.at({0, 0, 0, 2, Role::keys}), entry_of(cache.spec(), {0, 1, 0, 2, Role::keys}, 1))
      << "what reorder brought from row 1";
}

TEST_P(StaticCacheInCapture, rule_6_construction_during_a_capture_throws) {
  EXPECT_THROW(device_.capture([&] { StaticCache cache(spec()); }), std::exception);
  EXPECT_NO_THROW(StaticCache cache(spec())) << "and leaves the device as it was";
}

TEST_P(StaticCacheInCapture, rule_6_no_verb_but_those_of_the_step_works_during_a_capture) {
  StaticCache cache(spec(2));
  Caller caller(cache);
  caller.step({3, {0, 1}, {0, 0}}, 1);
  const CacheContents before(cache);
  const std::vector<int64_t> rows{0}, order{1, 0}, lengths{3, 3};
  const auto refused = [&](const std::function<void()>& verb) {
    EXPECT_THROW(device_.capture(verb), std::exception);
  };
  refused([&] { cache.prepare({1, {0}, {3}}); });
  refused([&] { cache.reset(rows); });
  refused([&] { cache.crop(0, 1); });
  refused([&] { cache.reorder(order, lengths); });
  refused([&] { cache.copy_row(0, 1, 3); });
  EXPECT_EQ(CacheContents(cache), before);

  caller.step({1, {0}, {3}}, 2);
  EXPECT_THAT(CacheContents(cache).slots_changed_since(before, 0), ElementsAre(3))
      << "the cache still works";
}

TEST_P(StaticCacheInCapture, random_sequences_on_the_simulated_device_equal_the_slow_twin) {
  CacheSpec varied = spec(3);
  varied.slots = 9;
  varied.layers = {{2, 4, 3, at::kFloat, at::kHalf}, {1, 5, 5, at::kBFloat16, at::kFloat8_e4m3fn}};
  StaticCache cache(varied);
  expect_random_sequence_equals_twin(cache, 1, 60);
}

}  // namespace
}  // namespace thaw
