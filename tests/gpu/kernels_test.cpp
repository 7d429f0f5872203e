// SPDX-License-Identifier: Apache-2.0
//
// The CUDA kernels of the registered operators, and their twin in LibTorch operations, against the
// slow twin on the CPU: eagerly and in a graph.
#include <c10/core/InferenceMode.h>

#include "gpu/gpu_test.h"
#include "kernels/kernels.h"
#include "kernels/operators.h"
#include "kernels/random_step.h"
#include "kernels/slow_twin.h"
#include "kernels/torch_operators.h"

namespace thaw::test {
namespace {

constexpr uint64_t seeds = 300;

/// All operators, as a step of one layer calls them. The twin works on the flat storage.
void enqueue(const RandomStep& s, Kernels kernels) {
  const bool paged = s.block_table.defined();
  const at::Tensor keys = paged ? s.paged_keys : s.keys();
  const at::Tensor seen = paged ? s.paged_values : s.values();
  if (kernels == Kernels::registered) {
    ops::count_refused_(s.refused, s.rows, s.positions, s.q_len, s.slots);
    ops::tag_(s.new_keys, s.new_values, s.rows, s.positions, s.generation, s.layer);
    ops::append_(s.keys(), s.values(), s.new_keys, s.new_values, s.rows, s.positions);
    ops::visible_sum_(s.out, keys, seen, s.block_table, s.rows, s.positions, s.window, s.ring);
  } else {
    torch_ops::count_refused_(s.refused, s.rows, s.positions, s.q_len, s.slots);
    torch_ops::tag_(s.new_keys, s.new_values, s.rows, s.positions, s.generation, s.layer);
    torch_ops::append_(s.flat_keys, s.flat_values, s.new_keys, s.new_values, s.rows, s.positions,
                       s.slots);
    torch_ops::visible_sum_(s.out, keys, seen, s.block_table, s.rows, s.positions, s.window,
                            s.ring);
  }
}

void run_slowly(const RandomStep& s) {
  const bool paged = s.block_table.defined();
  slow_twin::count_refused_(s.refused, s.rows, s.positions, s.q_len, s.slots);
  slow_twin::tag_(s.new_keys, s.new_values, s.rows, s.positions, s.generation, s.layer);
  slow_twin::append_(s.keys(), s.values(), s.new_keys, s.new_values, s.rows, s.positions);
  slow_twin::visible_sum_(s.out, paged ? s.paged_keys : s.keys(),
                          paged ? s.paged_values : s.values(), s.block_table, s.rows, s.positions,
                          s.window, s.ring);
}

void expect_same(const RandomStep& expected, const RandomStep& on_the_gpu, uint64_t seed) {
  const RandomStep found = on_the_gpu.on(at::kCPU);
  EXPECT_TRUE(same_bytes(expected.keys(), found.keys())) << "keys, seed " << seed;
  EXPECT_TRUE(same_bytes(expected.values(), found.values())) << "values, seed " << seed;
  EXPECT_TRUE(same_bytes(expected.new_keys, found.new_keys)) << "new keys, seed " << seed;
  EXPECT_TRUE(same_bytes(expected.new_values, found.new_values)) << "new values, seed " << seed;
  EXPECT_TRUE(same_bytes(expected.refused, found.refused)) << "refused, seed " << seed;
  EXPECT_TRUE(same_bytes(expected.out, found.out)) << "out, seed " << seed;
}

class GpuKernels : public GpuTest, public testing::WithParamInterface<Kernels> {
 protected:
  c10::InferenceMode mode_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, GpuKernels, testing::Values(Kernels::registered, Kernels::torch),
                         [](const auto& info) {
                           return info.param == Kernels::torch ? "torch" : "registered";
                         });

TEST_P(GpuKernels, eager_steps_do_what_the_slow_twin_does) {
  for (uint64_t seed = 0; seed < seeds && !HasFailure(); ++seed) {
    const RandomStep slow(seed);
    const RandomStep fast = slow.on(device_->torch_device());
    run_slowly(slow);
    enqueue(fast, GetParam());
    expect_same(slow, fast, seed);
  }
}

TEST_P(GpuKernels, replays_with_other_contents_do_what_the_slow_twin_does) {
  for (uint64_t seed = 0; seed < seeds / 3 && !HasFailure(); ++seed) {
    const RandomStep slow(seed);
    const RandomStep fast = slow.on(device_->torch_device());
    if (seed == 0) enqueue(fast.on(device_->torch_device()), GetParam());  // first use (rule 22)
    const auto graph = capture([&] { enqueue(fast, GetParam()); });
    for (uint64_t replay = 1; replay <= 2; ++replay) {
      slow.refill(seed + replay * seeds);
      fast.refill(seed + replay * seeds);
      run_slowly(slow);
      graph->replay();
      expect_same(slow, fast, seed);
    }
  }
}

}  // namespace
}  // namespace thaw::test
