// SPDX-License-Identifier: Apache-2.0
//
// Rules of docs/capture-rules.md on a GPU: those that the simulated device follows and that caches
// rest on.
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros.h>

#include "gpu/gpu_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class GpuRules : public GpuTest {};

TEST_F(GpuRules, rule_8_a_check_on_the_host_leaves_the_capture_valid) {
  const at::Tensor x = at::zeros({2}, on_gpu());
  const auto graph = capture([&] {
    EXPECT_THROW(x.add_(at::zeros({3}, on_gpu())), c10::Error);
    x.add_(1);
  });
  graph->replay();
  EXPECT_THAT(values(x), Each(1));
}

TEST_F(GpuRules, rule_23_a_generator_is_not_seeded_in_a_capture_which_stays_valid) {
  const at::Tensor x = at::zeros({2}, on_gpu());
  const auto graph = capture([&] {
    EXPECT_THROW(device_->set_generator({.seed = 1}), c10::Error);
    x.add_(1);
  });
  graph->replay();
  EXPECT_THAT(values(x), Each(1));
}

TEST_F(GpuRules, rule_33_host_numbers_keep_the_value_of_the_capture) {
  const at::Tensor x = at::zeros({2}, on_gpu(at::kLong));
  int64_t position = 8;
  const auto graph = capture([&] { x.fill_(position); });
  position = 9;
  graph->replay();
  EXPECT_THAT(values<int64_t>(x), Each(8));
}

TEST_F(GpuRules, rule_34_a_host_scalar_tensor_keeps_the_value_of_the_capture) {
  const at::Tensor x = at::zeros({2}, on_gpu(at::kLong));
  const at::Tensor position = at::scalar_tensor(8, at::kLong);
  const auto graph = capture([&] { x.add_(position); });
  position.fill_(100);
  graph->replay();
  EXPECT_THAT(values<int64_t>(x), Each(8));
}

TEST_F(GpuRules, rule_35_device_memory_is_read_at_its_address_at_each_replay) {
  const at::Tensor x = at::zeros({2}, on_gpu()), y = at::full({2}, 3, on_gpu());
  const auto graph = capture([&] { x.copy_(y.mul(2)); });
  graph->replay();
  EXPECT_THAT(values(x), Each(6));
  y.fill_(5);
  graph->replay();
  EXPECT_THAT(values(x), Each(10));
}

TEST_F(GpuRules, rule_36_pinned_memory_is_read_at_replay) {
  const at::Tensor staging =
      at::empty({2}, at::TensorOptions().dtype(at::kLong).pinned_memory(true));
  staging.fill_(4);
  const at::Tensor x = at::zeros({2}, on_gpu(at::kLong));
  const auto graph = capture([&] { x.copy_(staging, /*non_blocking=*/true); });
  staging.fill_(5);
  graph->replay();
  device_->synchronize();
  EXPECT_THAT(values<int64_t>(x), Each(5));
}

TEST_F(GpuRules, rule_42_memory_freed_in_a_capture_is_used_again_in_it) {
  const at::Tensor x = at::full({64}, 1, on_gpu());
  const void *first = nullptr, *second = nullptr;
  const auto graph = capture([&] {
    {
      const at::Tensor a = x.add(1);
      first = a.const_data_ptr();
    }
    const at::Tensor b = x.add(2);
    second = b.const_data_ptr();
  });
  EXPECT_EQ(first, second);
}

TEST_F(GpuRules, rule_43_a_pool_keeps_its_memory_until_its_last_graph_is_gone) {
  const at::Tensor x = at::full({64}, 1, on_gpu());
  at::Tensor y;
  auto graph = capture([&] { y = x.add(1); });
  const void* address = y.const_data_ptr();
  y.reset();
  std::vector<at::Tensor> others;
  for (int i = 0; i < 200; ++i) {
    others.push_back(at::empty({64}, on_gpu()));
    EXPECT_NE(others.back().const_data_ptr(), address);
  }
}

TEST_F(GpuRules, rule_46_an_input_that_was_freed_and_handed_out_anew_is_read_without_an_error) {
  at::Tensor input = at::full({64}, 1, on_gpu());
  const void* address = input.const_data_ptr();
  at::Tensor y;
  const auto graph = capture([&] { y = input.add(1); });
  input.reset();
  const at::Tensor stranger = at::full({64}, 41, on_gpu());
  ASSERT_EQ(stranger.const_data_ptr(), address) << "the allocator gave the memory to nobody";
  graph->replay();
  EXPECT_THAT(values(y), Each(42));
}

TEST_F(GpuRules, rule_56_replays_draw_what_eager_work_would) {
  const GeneratorState start{.seed = 11, .offset = 12};
  device_->set_generator(start);
  const auto first = values(at::rand({40}, on_gpu()));
  const auto second = values(at::rand({40}, on_gpu()));
  const GeneratorState end = device_->generator();

  device_->set_generator(start);
  at::Tensor drawn;
  const auto graph = capture([&] { drawn = at::rand({40}, on_gpu()); });
  EXPECT_EQ(device_->generator(), start) << "a capture moves no generator";
  graph->replay();
  EXPECT_EQ(values(drawn), first);
  graph->replay();
  EXPECT_EQ(values(drawn), second);
  EXPECT_EQ(device_->generator(), end);
}

TEST_F(GpuRules, rule_58_uniform_numbers_are_those_of_the_philox_engine) {
  device_->set_generator({.seed = 7, .offset = 4});
  const auto drawn = values(at::rand({5}, on_gpu()));
  for (size_t i = 0; i < drawn.size(); ++i) {
    // Element i is the first number of subsequence i; offsets count in fours.
    at::Philox4_32 philox(7, i, 1);
    const float expected = (static_cast<float>(philox()) + 0.5F) / 4294967296.F;
    EXPECT_FLOAT_EQ(drawn[i], expected == 1 ? 0 : expected);
  }
}

}  // namespace
}  // namespace thaw::test
