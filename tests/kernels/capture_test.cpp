// SPDX-License-Identifier: Apache-2.0
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <functional>

#include "device/sim/sim_device.h"
#include "kernels/kernels.h"
#include "kernels/operators.h"
#include "kernels/random_step.h"
#include "kernels/torch_operators.h"

namespace thaw {
namespace {

/// All operators, as a step of one layer calls them.
void enqueue(const RandomStep& s, Kernels kernels) {
  if (kernels == Kernels::registered) {
    ops::count_refused_(s.refused, s.rows, s.positions, s.q_len, s.slots);
    ops::tag_(s.new_keys, s.new_values, s.rows, s.positions, s.generation, s.layer);
    ops::append_(s.keys(), s.values(), s.new_keys, s.new_values, s.rows, s.positions);
    ops::visible_sum_(s.out, s.keys(), s.values(), {}, s.rows, s.positions, s.window, s.ring);
    if (!s.block_table.defined()) return;
    ops::visible_sum_(s.out, s.paged_keys, s.paged_values, s.block_table, s.rows, s.positions,
                      s.window, s.ring);
  } else {
    torch_ops::count_refused_(s.refused, s.rows, s.positions, s.q_len, s.slots);
    torch_ops::tag_(s.new_keys, s.new_values, s.rows, s.positions, s.generation, s.layer);
    torch_ops::append_(s.flat_keys, s.flat_values, s.new_keys, s.new_values, s.rows, s.positions,
                       s.slots);
    torch_ops::visible_sum_(s.out, s.keys(), s.values(), {}, s.rows, s.positions, s.window, s.ring);
    if (!s.block_table.defined()) return;
    torch_ops::visible_sum_(s.out, s.paged_keys, s.paged_values, s.block_table, s.rows, s.positions,
                            s.window, s.ring);
  }
}

/// Everything that the operators write, but for the scratch entries of the twin.
void expect_same(const RandomStep& expected, const RandomStep& found, uint64_t seed) {
  const RandomStep host = found.on(at::kCPU);
  EXPECT_TRUE(same_bytes(expected.keys(), host.keys())) << "seed " << seed;
  EXPECT_TRUE(same_bytes(expected.values(), host.values())) << "seed " << seed;
  EXPECT_TRUE(same_bytes(expected.new_keys, host.new_keys)) << "seed " << seed;
  EXPECT_TRUE(same_bytes(expected.new_values, host.new_values)) << "seed " << seed;
  EXPECT_TRUE(same_bytes(expected.refused, host.refused)) << "seed " << seed;
  EXPECT_TRUE(same_bytes(expected.out, host.out)) << "seed " << seed;
}

class Captured : public testing::TestWithParam<Kernels> {
 protected:
  c10::InferenceMode mode_;
  SimDevice device_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, Captured, testing::Values(Kernels::registered, Kernels::torch),
                         [](const auto& kernels) {
                           return kernels.param == Kernels::torch ? "torch" : "registered";
                         });

TEST_P(Captured, eager_steps_on_the_simulated_device_do_what_the_cpu_does) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const RandomStep expected(seed);
    const RandomStep found = expected.on(device_.torch_device());
    enqueue(expected, Kernels::registered);
    enqueue(found, GetParam());
    expect_same(expected, found, seed);
  }
}

TEST_P(Captured, rule_1_a_capture_runs_nothing) {
  const RandomStep expected(1);
  const RandomStep found = expected.on(device_.torch_device());
  const auto graph = device_.capture([&] { enqueue(found, GetParam()); });
  expect_same(expected, found, 1);
}

TEST_P(Captured, rule_35_replays_read_the_refilled_inputs_as_eager_steps_do) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const RandomStep expected(seed);
    const RandomStep found = expected.on(device_.torch_device());
    const auto graph = device_.capture([&] { enqueue(found, GetParam()); });
    for (uint64_t refill = 0; refill < 3; ++refill) {
      expected.refill(seed + 1000 * refill);
      found.rows.copy_(expected.rows);
      found.positions.copy_(expected.positions);
      found.generation.copy_(expected.generation);
      enqueue(expected, Kernels::registered);
      graph->replay();
      expect_same(expected, found, seed);
    }
  }
}

TEST_P(Captured, a_registered_operator_is_one_node_and_its_twin_is_many) {
  const RandomStep step = RandomStep(3).on(device_.torch_device());
  const auto nodes = [&](const std::function<void()>& enqueue) {
    return static_cast<int>(device_.capture(enqueue)->node_count());
  };
  const bool registered = GetParam() == Kernels::registered;
  const auto count = registered ? ops::count_refused_ : torch_ops::count_refused_;
  const auto tag = registered ? ops::tag_ : torch_ops::tag_;
  const auto sum = registered ? ops::visible_sum_ : torch_ops::visible_sum_;
  const int counting =
      nodes([&] { count(step.refused, step.rows, step.positions, step.q_len, step.slots); });
  const int tagging = nodes(
      [&] { tag(step.new_keys, step.new_values, step.rows, step.positions, step.generation, 0); });
  const int appending = nodes([&] {
    if (registered) {
      ops::append_(step.keys(), step.values(), step.new_keys, step.new_values, step.rows,
                   step.positions);
    } else {
      torch_ops::append_(step.flat_keys, step.flat_values, step.new_keys, step.new_values,
                         step.rows, step.positions, step.slots);
    }
  });
  const int summing = nodes(
      [&] { sum(step.out, step.keys(), step.values(), {}, step.rows, step.positions, 0, false); });
  RecordProperty("count_refused_", counting);
  RecordProperty("tag_", tagging);
  RecordProperty("append_", appending);
  RecordProperty("visible_sum_", summing);
  for (const int each : {counting, tagging, appending, summing}) {
    EXPECT_GE(each, registered ? 1 : 8);
    EXPECT_LE(each, registered ? 1 : 60);
  }
}

TEST_P(Captured, wrong_arguments_are_refused_at_capture_not_at_replay) {
  const RandomStep step = RandomStep(3).on(device_.torch_device());
  EXPECT_THROW(device_.capture([&] {
    ops::append_(step.keys(), step.values(), step.new_keys.narrow(3, 0, 12), step.new_values,
                 step.rows, step.positions);
  }),
               c10::Error);
}

TEST_P(Captured, positions_on_the_host_are_refused_eagerly_and_at_capture) {
  RandomStep step = RandomStep(3).on(device_.torch_device());
  step.positions = step.positions.cpu();
  EXPECT_ANY_THROW(enqueue(step, GetParam()));
  EXPECT_ANY_THROW(device_.capture([&] { enqueue(step, GetParam()); }));
}

}  // namespace
}  // namespace thaw
