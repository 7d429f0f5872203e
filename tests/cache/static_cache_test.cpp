// SPDX-License-Identifier: Apache-2.0
//
// The seven rules of StaticCache, as far as they can be seen without a capture.
#include "cache/static_cache.h"

#include <ATen/ops/zeros.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "cache/caller.h"

namespace thaw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CacheSpec small_spec() {
  CacheSpec spec;
  spec.rows = 3;
  spec.slots = 8;
  spec.q_len_max = 5;
  spec.layers = {{2, 4, 4, at::kFloat, at::kFloat}};
  return spec;
}

/// Every row holds `length` entries of generation 1.
void prefill_all(Caller& caller, const CacheSpec& spec, int64_t length) {
  StepPlan plan{length, std::vector<int64_t>(static_cast<size_t>(spec.rows)), {}};
  std::iota(plan.rows.begin(), plan.rows.end(), 0);
  plan.positions.assign(plan.rows.size(), 0);
  caller.step(plan, 1);
}

std::vector<const void*> addresses_of(const KvCache& cache) {
  std::vector<const void*> addresses{cache.write_positions().const_data_ptr()};
  for (const Buffer& buffer : cache.buffers()) addresses.push_back(buffer.tensor.const_data_ptr());
  return addresses;
}

class StaticCacheWithKernels : public testing::TestWithParam<Kernels> {
 protected:
  CacheSpec small_spec() const {
    CacheSpec spec = thaw::small_spec();
    spec.kernels = GetParam();
    return spec;
  }
};
INSTANTIATE_TEST_SUITE_P(Kernels, StaticCacheWithKernels,
                         testing::Values(Kernels::registered, Kernels::torch),
                         [](const auto& info) {
                           return info.param == Kernels::torch ? "torch" : "registered";
                         });

TEST_P(StaticCacheWithKernels, rule_1_the_position_is_the_index_that_is_written_next) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  const CacheContents before(cache);
  caller.step({1, {0}, {6}}, 1);
  const CacheContents after(cache);
  EXPECT_THAT(after.slots_changed_since(before, 0), ElementsAre(6));
  EXPECT_EQ(after.at({0, 0, 1, 6, Role::values}),
            entry_of(cache.spec(), {0, 0, 1, 6, Role::values}, 1));
}

TEST_P(StaticCacheWithKernels, rule_2_each_place_has_its_own_row_and_position) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  const CacheContents before(cache);
  caller.step({2, {2, 0, 1}, {1, 5, 3}}, 1);
  const CacheContents after(cache);
  EXPECT_THAT(after.slots_changed_since(before, 0), ElementsAre(5, 6));
  EXPECT_THAT(after.slots_changed_since(before, 1), ElementsAre(3, 4));
  EXPECT_THAT(after.slots_changed_since(before, 2), ElementsAre(1, 2));
  EXPECT_EQ(refused_by(cache), 0);
}

TEST_P(StaticCacheWithKernels, rule_2_a_padded_place_is_skipped_whole_and_not_counted) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  const CacheContents before(cache);
  caller.step({3, {-1, 1, 2}, {-1, -1, 5}}, 2);
  const CacheContents after(cache);
  EXPECT_THAT(after.slots_changed_since(before, 0), IsEmpty());
  EXPECT_THAT(after.slots_changed_since(before, 1), IsEmpty()) << "position -1 with q of 3";
  EXPECT_THAT(after.slots_changed_since(before, 2), ElementsAre(5, 6, 7));
  EXPECT_EQ(refused_by(cache), 0);
}

TEST_P(StaticCacheWithKernels, rule_2_places_that_the_plan_does_not_have_are_padding) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  const CacheContents before(cache);
  caller.refill({1, {0, 1, 2}, {5, 5, 5}}, 2);
  cache.prepare({1, {1}, {5}});
  caller.run();
  const CacheContents after(cache);
  EXPECT_THAT(after.slots_changed_since(before, 0), IsEmpty());
  EXPECT_THAT(after.slots_changed_since(before, 1), ElementsAre(5));
  EXPECT_THAT(after.slots_changed_since(before, 2), IsEmpty());
  EXPECT_THAT(integers_of(cache.buffers()[2].tensor), ElementsAre(1, -1, -1, 5, -1, -1, 5, 5, 5))
      << "rows, positions, write positions";
}

TEST_P(StaticCacheWithKernels,
       rule_2_three_tokens_at_the_last_slot_write_one_and_count_two_and_change_nothing_else) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  CacheContents expected(cache);
  caller.step({3, {1}, {7}}, 2);
  const CacheContents after(cache);
  EXPECT_EQ(refused_by(cache), 2);
  for (const int64_t head : {0, 1}) {
    for (const Role role : {Role::keys, Role::values}) {
      const EntryId last{0, 1, head, 7, role};
      EXPECT_EQ(after.at(last), entry_of(cache.spec(), last, 2));
      expected.put(last, entry_of(cache.spec(), last, 2));
    }
  }
  EXPECT_EQ(after, expected) << "all rows, heads and slots";
}

TEST_P(StaticCacheWithKernels, rule_2_positions_outside_the_cache_are_refused_and_counted) {
  constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
  constexpr int64_t highest = std::numeric_limits<int64_t>::max();
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  const CacheContents before(cache);
  caller.step({2, {0, 1, 2}, {8, 9, highest}}, 2);
  EXPECT_EQ(refused_by(cache), 6);
  caller.step({2, {0, 1, 2}, {-3, lowest, lowest + 1}}, 3);
  EXPECT_EQ(refused_by(cache), 12);
  EXPECT_EQ(CacheContents(cache), before);
  caller.step({2, {0}, {-2}}, 4);
  EXPECT_EQ(refused_by(cache), 14) << "-2 and -1: only a place that begins at -1 is padding";
}

TEST_P(StaticCacheWithKernels, rule_2_refused_entries_count_once_a_step_however_many_layers) {
  CacheSpec spec = small_spec();
  spec.layers.resize(4, spec.layers[0]);
  StaticCache cache(spec);
  Caller caller(cache);
  caller.step({3, {0, 1}, {7, 8}}, 1);
  EXPECT_EQ(refused_by(cache), 5);
}

TEST(StaticCache, rule_3_write_positions_are_those_of_the_last_refill) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(0, 0, 0));
  caller.step({3, {2, 0}, {1, 4}}, 1);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(4, 0, 1));
  caller.step({1, {-1, 1}, {-1, 6}}, 2);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(4, 6, 1));
}

TEST(StaticCache, rule_3_lengths_move_through_crop_reorder_and_copy_as_the_caller_says) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  cache.crop(1, 2);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(0, 2, 0));
  // A step that the caller did not accept: the lengths are still 5, 2, 5.
  caller.step({2, {0, 1, 2}, {5, 2, 5}}, 2);
  cache.reorder(std::vector<int64_t>{1, 1, 0}, std::vector<int64_t>{5, 2, 5});
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(2, 2, 5));
  cache.copy_row(2, 0, 5);
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(5, 2, 5));
}

TEST(StaticCache, rule_4_no_verb_gives_a_buffer_another_address) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  const auto addresses = addresses_of(cache);
  prefill_all(caller, cache.spec(), 5);
  EXPECT_EQ(addresses_of(cache), addresses) << "step";
  cache.reorder(std::vector<int64_t>{2, 2, 1}, std::vector<int64_t>{5, 5, 5});
  EXPECT_EQ(addresses_of(cache), addresses) << "reorder";
  cache.copy_row(2, 0, 5);
  EXPECT_EQ(addresses_of(cache), addresses) << "copy_row";
  cache.crop(2, 1);
  EXPECT_EQ(addresses_of(cache), addresses) << "crop";
  cache.reset(std::vector<int64_t>{0, 1, 2});
  EXPECT_EQ(addresses_of(cache), addresses) << "reset";
  cache.wake();
  EXPECT_EQ(addresses_of(cache), addresses) << "wake";
}

TEST(StaticCache, rule_4_update_returns_the_buffers_themselves) {
  StaticCache cache(small_spec());
  cache.prepare({1, {0}, {0}});
  cache.begin_step(1, 1);
  const at::Tensor entry = at::zeros({1, 2, 1, 4});
  const KeysValues view = cache.update(0, entry, entry);
  EXPECT_EQ(view.keys.const_data_ptr(), cache.buffers()[0].tensor.const_data_ptr());
  EXPECT_EQ(view.values.const_data_ptr(), cache.buffers()[1].tensor.const_data_ptr());
  EXPECT_THAT(view.keys.sizes(), ElementsAre(3, 2, 8, 4));
  EXPECT_FALSE(view.block_table.defined());
}

TEST(StaticCache, rule_4_reorder_takes_what_each_row_held_before_even_in_a_circle) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  const CacheContents before(cache);
  cache.reorder(std::vector<int64_t>{1, 2, 0}, std::vector<int64_t>{5, 5, 5});
  const CacheContents after(cache);
  for (int64_t row = 0; row < 3; ++row) {
    EXPECT_EQ(after.at({0, row, 1, 4, Role::keys}),
              before.at({0, (row + 1) % 3, 1, 4, Role::keys}));
    EXPECT_EQ(after.at({0, row, 0, 0, Role::values}),
              before.at({0, (row + 1) % 3, 0, 0, Role::values}));
  }
}

TEST(StaticCache, rule_5_heads_dimensions_and_dtypes_are_those_of_the_layer) {
  CacheSpec spec = small_spec();
  spec.layers = {{1, 12, 5, at::kHalf, at::kFloat}, {3, 2, 8, at::kBFloat16, at::kFloat8_e4m3fn}};
  StaticCache cache(spec);
  Caller caller(cache);
  caller.step({2, {1}, {3}}, 1);
  const std::vector<Buffer> buffers = cache.buffers();
  EXPECT_THAT(buffers[0].tensor.sizes(), ElementsAre(3, 1, 8, 12));
  EXPECT_THAT(buffers[1].tensor.sizes(), ElementsAre(3, 1, 8, 5));
  EXPECT_THAT(buffers[2].tensor.sizes(), ElementsAre(3, 3, 8, 2));
  EXPECT_THAT(buffers[3].tensor.sizes(), ElementsAre(3, 3, 8, 8));
  EXPECT_EQ(buffers[0].tensor.scalar_type(), at::kHalf);
  EXPECT_EQ(buffers[1].tensor.scalar_type(), at::kFloat);
  EXPECT_EQ(buffers[2].tensor.scalar_type(), at::kBFloat16);
  EXPECT_EQ(buffers[3].tensor.scalar_type(), at::kFloat8_e4m3fn);
  const CacheContents contents(cache);
  for (const EntryId& id : {EntryId{0, 1, 0, 3, Role::keys}, EntryId{0, 1, 0, 4, Role::values},
                            EntryId{1, 1, 2, 3, Role::keys}, EntryId{1, 1, 1, 4, Role::values}}) {
    EXPECT_EQ(contents.at(id), entry_of(spec, id, 1)) << id.text();
  }
}

/// Counts what LibTorch's host allocator hands out while it is alive.
class AllocationCount : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    if (bytes > 0) ++count;
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t count = 0;
};

TEST(StaticCache, rule_6_nothing_is_allocated_after_construction) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);

  const auto allocations = std::make_shared<AllocationCount>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, allocations);
  const std::vector<int64_t> order{1, 2, 0}, lengths{5, 5, 5};
  cache.prepare({2, {0, 1}, {5, 5}});
  caller.run();
  cache.reorder(order, lengths);
  cache.copy_row(0, 1, 5);
  cache.crop(0, 2);
  cache.reset(order);
  EXPECT_EQ(allocations->count, 0);
  const at::Tensor control = at::zeros({1});
  EXPECT_EQ(allocations->count, 1) << "the counter counts";
}

TEST(StaticCache, rule_7_reset_clears_lengths_too) {
  StaticCache cache(small_spec());
  Caller caller(cache);
  prefill_all(caller, cache.spec(), 5);
  caller.step({1, {0, 1, 2}, {5, 5, 5}}, 2);
  cache.reset(std::vector<int64_t>{0, 2});
  EXPECT_THAT(integers_of(cache.write_positions()), ElementsAre(0, 5, 0));
}

TEST(StaticCache, locate_knows_no_place_outside_the_slots) {
  const StaticCache cache(small_spec());
  EXPECT_TRUE(cache.locate(0, 0, 0, 7, Role::keys));
  EXPECT_FALSE(cache.locate(0, 0, 0, 8, Role::keys));
  EXPECT_FALSE(cache.locate(0, 0, 0, -1, Role::keys));
}

TEST(StaticCache, plans_that_do_not_fit_are_refused_and_say_why) {
  StaticCache cache(small_spec());
  const auto refusal = [&](const StepPlan& plan) -> std::string {
    try {
      cache.prepare(plan);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({1, {3}, {0}}), "row of a place must be -1 to 2, found 3");
  EXPECT_EQ(refusal({1, {-2}, {0}}), "row of a place must be -1 to 2, found -2");
  EXPECT_EQ(refusal({6, {0}, {0}}), "q_len must be 1 to 5, found 6");
  EXPECT_EQ(refusal({0, {0}, {0}}), "q_len must be 1 to 5, found 0");
  EXPECT_EQ(refusal({1, {}, {}}), "number of places must be 1 to 3, found 0");
  EXPECT_EQ(refusal({1, {0, 1, 2, -1}, {0, 0, 0, -1}}), "number of places must be 1 to 3, found 4");
  EXPECT_EQ(refusal({1, {0, 1}, {0}}), "number of positions must be 2, found 1");
  EXPECT_EQ(refusal({1, {0}, {99}}), "accepted") << "the device skips and counts it";
}

TEST(StaticCache, verbs_with_rows_and_lengths_that_do_not_exist_are_refused) {
  StaticCache cache(small_spec());
  const std::vector<int64_t> beyond{3}, order{0, 1, 2}, wrong_order{0, 1, 3}, lengths{0, 0, 0},
      too_long{0, 0, 9};
  EXPECT_THROW(cache.reset(beyond), std::invalid_argument);
  EXPECT_THROW(cache.crop(0, 9), std::invalid_argument);
  EXPECT_THROW(cache.crop(-1, 0), std::invalid_argument);
  EXPECT_THROW(cache.copy_row(0, 3, 0), std::invalid_argument);
  EXPECT_THROW(cache.reorder(beyond, lengths), std::invalid_argument);
  EXPECT_THROW(cache.reorder(wrong_order, lengths), std::invalid_argument);
  EXPECT_THROW(cache.reorder(order, too_long), std::invalid_argument);
}

TEST(StaticCache, a_specification_without_rows_slots_tokens_layers_or_heads_is_refused) {
  const auto spoilt = [](auto spoil) {
    CacheSpec spec = small_spec();
    spoil(spec);
    return spec;
  };
  EXPECT_NO_THROW(StaticCache(spoilt([](CacheSpec&) {})));
  EXPECT_THROW(StaticCache(spoilt([](CacheSpec& s) { s.rows = 0; })), std::invalid_argument);
  EXPECT_THROW(StaticCache(spoilt([](CacheSpec& s) { s.slots = 0; })), std::invalid_argument);
  EXPECT_THROW(StaticCache(spoilt([](CacheSpec& s) { s.q_len_max = 0; })), std::invalid_argument);
  EXPECT_THROW(StaticCache(spoilt([](CacheSpec& s) { s.layers.clear(); })), std::invalid_argument);
  EXPECT_THROW(StaticCache(spoilt([](CacheSpec& s) { s.layers[0].kv_heads = 0; })),
               std::invalid_argument);
  EXPECT_THROW(StaticCache(spoilt([](CacheSpec& s) { s.layers[0].value_dim = 0; })),
               std::invalid_argument);
}

}  // namespace
}  // namespace thaw
