// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "kernels/random_step.h"
#include "kernels/slow_twin.h"

namespace thaw {
namespace {

constexpr uint64_t seeds = 2000;

at::Tensor integers(std::vector<int64_t> numbers) { return at::tensor(numbers, at::kLong); }

TEST(Append, does_what_its_slow_twin_does) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep fast(seed), slow(seed);
    ops::append_(fast.keys(), fast.values(), fast.new_keys, fast.new_values, fast.rows,
                 fast.positions);
    slow_twin::append_(slow.keys(), slow.values(), slow.new_keys, slow.new_values, slow.rows,
                       slow.positions);
    ASSERT_TRUE(same_bytes(fast.flat_keys, slow.flat_keys)) << "seed " << seed;
    ASSERT_TRUE(same_bytes(fast.flat_values, slow.flat_values)) << "seed " << seed;
  }
}

TEST(Append, moves_the_bytes_of_any_dtype_between_strided_tensors) {
  for (const auto dtype : {at::kByte, at::kDouble, at::kHalf, at::kFloat8_e4m3fn, at::kBool}) {
    // The cache is every second slot and the first three elements of a larger tensor.
    const at::Tensor storage = at::zeros({2, 8, 2, 5}, dtype);
    const at::Tensor keys = storage.slice(1, 0, 8, 2).narrow(3, 0, 3).transpose(1, 2);
    const at::Tensor values = at::zeros({2, 2, 4, 1}, dtype);
    const at::Tensor new_keys = at::full({1, 2, 2, 4}, 1).to(dtype).narrow(3, 1, 3);
    const at::Tensor new_values = at::full({1, 2, 2, 1}, 1).to(dtype);
    ops::append_(keys, values, new_keys, new_values, integers({1}), integers({2}));
    const at::Tensor expected = at::zeros({2, 8, 2, 5}, dtype);
    expected[1][4].narrow(1, 0, 3).copy_(at::full({2, 3}, 1));
    expected[1][6].narrow(1, 0, 3).copy_(at::full({2, 3}, 1));
    EXPECT_TRUE(same_bytes(storage, expected)) << dtype;
  }
}

TEST(CountRefused, does_what_its_slow_twin_does) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep fast(seed), slow(seed);
    ops::count_refused_(fast.refused, fast.rows, fast.positions, fast.q_len, fast.slots);
    slow_twin::count_refused_(slow.refused, slow.rows, slow.positions, slow.q_len, slow.slots);
    ASSERT_TRUE(same_bytes(fast.refused, slow.refused)) << "seed " << seed;
  }
}

TEST(CountRefused, last_slot_with_three_tokens_keeps_one_and_counts_two) {
  const at::Tensor refused = at::zeros({}, at::kLong);
  ops::count_refused_(refused, integers({0}), integers({15}), 3, 16);
  EXPECT_EQ(refused.item<int64_t>(), 2);
}

TEST(CountRefused, padding_does_not_count_and_other_negative_positions_do) {
  const at::Tensor refused = at::zeros({}, at::kLong);
  ops::count_refused_(refused, integers({0, -1, -1}), integers({-1, 99, -1}), 2, 16);
  EXPECT_EQ(refused.item<int64_t>(), 0);
  ops::count_refused_(refused, integers({0, 0}), integers({-2, -3}), 4, 16);
  EXPECT_EQ(refused.item<int64_t>(), 2 + 3);
}

TEST(Tag, does_what_its_slow_twin_does) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep fast(seed), slow(seed);
    ops::tag_(fast.new_keys, fast.new_values, fast.rows, fast.positions, fast.generation,
              fast.layer);
    slow_twin::tag_(slow.new_keys, slow.new_values, slow.rows, slow.positions, slow.generation,
                    slow.layer);
    ASSERT_TRUE(same_bytes(fast.new_keys, slow.new_keys)) << "seed " << seed;
    ASSERT_TRUE(same_bytes(fast.new_values, slow.new_values)) << "seed " << seed;
  }
}

TEST(VisibleSum, does_what_its_slow_twin_does) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep fast(seed), slow(seed);
    const bool paged = fast.block_table.defined();
    ops::visible_sum_(fast.out, paged ? fast.paged_keys : fast.keys(),
                      paged ? fast.paged_values : fast.values(), fast.block_table, fast.rows,
                      fast.positions, fast.window, fast.ring);
    slow_twin::visible_sum_(slow.out, paged ? slow.paged_keys : slow.keys(),
                            paged ? slow.paged_values : slow.values(), slow.block_table, slow.rows,
                            slow.positions, slow.window, slow.ring);
    ASSERT_TRUE(same_bytes(fast.out, slow.out)) << "seed " << seed;
  }
}

TEST(VisibleSum, what_no_token_may_see_does_not_poison_the_sum) {
  const at::Tensor keys = at::full({1, 1, 4, 16}, 1.0F), values = keys.clone();
  keys[0][0][2].fill_(std::numeric_limits<float>::quiet_NaN());
  const at::Tensor out = at::zeros({1, 1, 2, 16});
  ops::visible_sum_(out, keys, values, {}, integers({0}), integers({0}), 0, false);
  EXPECT_TRUE(same_bytes(out[0][0][0], at::full({16}, 3.0F)));
  EXPECT_TRUE(same_bytes(out[0][0][1], at::full({16}, 6.0F)));
  ops::visible_sum_(out, keys, values, {}, integers({0}), integers({1}), 0, false);
  EXPECT_TRUE(out[0][0][1].isnan().all().item<bool>());
}

TEST(VisibleSum, is_exact_at_4096_slots) {
  const at::Tensor keys = at::full({1, 1, 4096, 16}, 15.0F).to(at::kBFloat16);
  const at::Tensor out = at::zeros({1, 1, 1, 16});
  ops::visible_sum_(out, keys, keys, {}, integers({0}), integers({4095}), 0, false);
  EXPECT_TRUE(same_bytes(out, at::full({1, 1, 1, 16}, 3.0F * 15 * 4096)));
}

TEST(VisibleSum, a_token_does_not_see_what_a_later_one_of_its_step_overwrote) {
  const at::Tensor keys = at::full({1, 1, 4, 16}, 1.0F);
  const at::Tensor out = at::zeros({1, 1, 3, 16});
  ops::visible_sum_(out, keys, keys, {}, integers({0}), integers({3}), 0, true);
  // Positions 2 to 5 are there; the tokens are 3, 4 and 5.
  EXPECT_TRUE(same_bytes(out[0][0][0], at::full({16}, 6.0F)));
  EXPECT_TRUE(same_bytes(out[0][0][1], at::full({16}, 9.0F)));
  EXPECT_TRUE(same_bytes(out[0][0][2], at::full({16}, 12.0F)));
}

TEST(VisibleSum, a_ring_whose_window_is_full_shows_all_its_slots) {
  const at::Tensor keys = at::full({1, 1, 4, 16}, 1.0F);
  const at::Tensor out = at::zeros({1, 1, 1, 16});
  ops::visible_sum_(out, keys, keys, {}, integers({0}), integers({2}), 0, true);
  EXPECT_TRUE(same_bytes(out, at::full({1, 1, 1, 16}, 9.0F)));
  ops::visible_sum_(out, keys, keys, {}, integers({0}), integers({1000}), 0, true);
  EXPECT_TRUE(same_bytes(out, at::full({1, 1, 1, 16}, 12.0F)));
}

}  // namespace
}  // namespace thaw
