// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_operators.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "kernels/operators.h"
#include "kernels/random_step.h"

namespace thaw {
namespace {

constexpr uint64_t seeds = 4000;

/// Of the flat storage all but the scratch entry.
bool same_cache(const RandomStep& a, const RandomStep& b) {
  return same_bytes(a.keys(), b.keys()) && same_bytes(a.values(), b.values());
}

TEST(TorchOperators, append_equals_the_registered_one) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep a(seed), b(seed);
    ops::append_(a.keys(), a.values(), a.new_keys, a.new_values, a.rows, a.positions);
    torch_ops::append_(b.flat_keys, b.flat_values, b.new_keys, b.new_values, b.rows, b.positions,
                       b.slots);
    ASSERT_TRUE(same_cache(a, b)) << "seed " << seed;
  }
}

TEST(TorchOperators, count_refused_equals_the_registered_one) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep a(seed), b(seed);
    ops::count_refused_(a.refused, a.rows, a.positions, a.q_len, a.slots);
    torch_ops::count_refused_(b.refused, b.rows, b.positions, b.q_len, b.slots);
    ASSERT_TRUE(same_bytes(a.refused, b.refused)) << "seed " << seed;
  }
}

TEST(TorchOperators, tag_equals_the_registered_one) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep a(seed), b(seed);
    ops::tag_(a.new_keys, a.new_values, a.rows, a.positions, a.generation, a.layer);
    torch_ops::tag_(b.new_keys, b.new_values, b.rows, b.positions, b.generation, b.layer);
    ASSERT_TRUE(same_bytes(a.new_keys, b.new_keys)) << "seed " << seed;
    ASSERT_TRUE(same_bytes(a.new_values, b.new_values)) << "seed " << seed;
  }
}

TEST(TorchOperators, visible_sum_equals_the_registered_one) {
  const c10::InferenceMode mode;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const RandomStep a(seed), b(seed);
    const bool paged = a.block_table.defined();
    ops::visible_sum_(a.out, paged ? a.paged_keys : a.keys(), paged ? a.paged_values : a.values(),
                      a.block_table, a.rows, a.positions, a.window, a.ring);
    torch_ops::visible_sum_(b.out, paged ? b.paged_keys : b.keys(),
                            paged ? b.paged_values : b.values(), b.block_table, b.rows, b.positions,
                            b.window, b.ring);
    ASSERT_TRUE(same_bytes(a.out, b.out)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace thaw
