// SPDX-License-Identifier: Apache-2.0
//
// The contract lets other layouts and other languages in: a paged cache, and one of functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "cache/capture_rig.h"
#include "cache/static_cache.h"
#include "caches/paged_cache.h"
#include "caches/trampoline_cache.h"
#include "device/sim/sim_device.h"

namespace thaw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Slots slots_after_prompt_warm_up_and_capture(SimDevice& device, KvCache& cache) {
  Caller caller(cache);
  prompt_and_warm_up(caller, 3);
  caller.refill({1, {0}, {5}}, 9);
  const auto graph = device.capture([&] { caller.run(); });
  return slots_of_four_replays(cache, caller, *graph);
}

TEST(PagedCache, replays_follow_the_block_table_into_blocks_that_the_capture_did_not_know) {
  SimDevice device;
  PagedCache cache(one_row_on(device), 3);
  EXPECT_EQ(slots_after_prompt_warm_up_and_capture(device, cache), (Slots{{5}, {6}, {7}, {8}}));
}

TEST(PagedCache, a_position_has_a_place_once_its_block_is_there_and_loses_it_with_the_block) {
  CacheSpec spec;
  spec.q_len_max = 5;
  PagedCache cache(spec, 4);
  EXPECT_FALSE(cache.locate(0, 0, 0, 0, Role::keys));
  cache.prepare({5, {0}, {0}});
  EXPECT_TRUE(cache.locate(0, 0, 0, 7, Role::keys));
  EXPECT_FALSE(cache.locate(0, 0, 0, 8, Role::keys));
  cache.crop(0, 3);
  EXPECT_TRUE(cache.locate(0, 0, 0, 3, Role::keys));
  EXPECT_FALSE(cache.locate(0, 0, 0, 4, Role::keys));
  cache.reset(std::vector<int64_t>{0});
  EXPECT_FALSE(cache.locate(0, 0, 0, 0, Role::keys));
}

TEST(PagedCache, rows_of_one_origin_share_no_block) {
  CacheSpec spec;
  spec.rows = 3;
  spec.q_len_max = 16;
  PagedCache cache(spec, 4);
  cache.prepare({16, {1}, {0}});
  cache.reorder(std::vector<int64_t>{1, 1, 1}, std::vector<int64_t>{0, 16, 0});
  std::set<int64_t> places;
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t position = 0; position < 16; ++position) {
      places.insert(cache.locate(0, row, 0, position, Role::keys).value().offset);
    }
  }
  EXPECT_EQ(places.size(), 48U);
  EXPECT_THAT(cache.host_state(), IsEmpty()) << "no block is free";
}

TEST(TrampolineCache, replays_are_those_of_the_cache_behind_it) {
  SimDevice device;
  const auto cache = trampoline_over(std::make_shared<StaticCache>(one_row_on(device)));
  EXPECT_EQ(slots_after_prompt_warm_up_and_capture(device, *cache), (Slots{{5}, {6}, {7}, {8}}));
}

TEST(TrampolineCache, a_function_that_is_missing_is_an_ability_that_is_missing) {
  const auto behind = std::make_shared<StaticCache>(CacheSpec());
  const std::vector<int64_t> row{0}, length{0};

  const auto full = trampoline_over(behind);
  EXPECT_TRUE(full->abilities().crop && full->abilities().reorder && full->abilities().copy_row);
  EXPECT_NO_THROW(full->crop(0, 0));

  TrampolineCache::Verbs verbs = verbs_of(behind);
  verbs.crop = nullptr;
  verbs.reorder = nullptr;
  verbs.copy_row = nullptr;
  TrampolineCache less(behind->spec(), verbs);
  EXPECT_FALSE(less.abilities().crop || less.abilities().reorder || less.abilities().copy_row);
  EXPECT_TRUE(less.abilities().several_tokens);
  EXPECT_THROW(less.crop(0, 0), std::logic_error);
  EXPECT_THROW(less.reorder(row, length), std::logic_error);
  EXPECT_THROW(less.copy_row(0, 0, 0), std::logic_error);
}

TEST(TrampolineCache, functions_that_may_be_empty_are_not_called) {
  const auto behind = std::make_shared<StaticCache>(CacheSpec());
  TrampolineCache::Verbs verbs = verbs_of(behind);
  verbs.abilities = nullptr;
  verbs.begin_step = nullptr;
  verbs.end_step = nullptr;
  verbs.wake = nullptr;
  verbs.host_state = nullptr;
  TrampolineCache cache(behind->spec(), verbs);
  Caller caller(cache);
  caller.step({1, {0}, {0}}, 1);
  cache.wake();
  EXPECT_TRUE(cache.abilities().crop);
  EXPECT_THAT(cache.host_state(), IsEmpty());
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(0));
}

}  // namespace
}  // namespace thaw
