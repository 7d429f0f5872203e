// SPDX-License-Identifier: Apache-2.0
//
// The CUDA device through the contract of device.h: what tests/device/device_contract_test.cpp asks
// of the simulated one, as far as CUDA can tell.
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "gpu/gpu_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpuDevice : public GpuTest {
 protected:
  template <class T>
  std::vector<T> read(const at::Tensor& tensor) {
    std::vector<std::byte> scratch;
    const auto bytes = device_->read(tensor, scratch);
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  bool touches(const Graph& graph, const at::Tensor& tensor) {
    const MemoryUse use = device_->memory_of(tensor);
    return std::any_of(graph.memory().begin(), graph.memory().end(),
                       [&](const MemoryUse& known) { return known.address == use.address; });
  }
};

TEST_F(GpuDevice, a_capture_runs_nothing_and_a_replay_runs_it_once) {
  const at::Tensor count = at::full({2}, 5, on_gpu(at::kLong));
  const auto graph = capture([&] { count.add_(1); });
  EXPECT_THAT(read<int64_t>(count), ElementsAre(5, 5));
  graph->replay();
  EXPECT_THAT(read<int64_t>(count), ElementsAre(6, 6));
  graph->replay();
  EXPECT_THAT(read<int64_t>(count), ElementsAre(7, 7));
}

TEST_F(GpuDevice, bytes_are_read_written_and_filled_in_place) {
  const at::Tensor x = at::zeros({3}, on_gpu(at::kChar));
  const std::byte two[] = {std::byte{7}, std::byte{8}};
  device_->write(x, 1, two);
  EXPECT_THAT(read<int8_t>(x), ElementsAre(0, 7, 8));
  device_->fill(x, std::byte{0xFF});
  EXPECT_THAT(read<int8_t>(x), ElementsAre(-1, -1, -1));
  EXPECT_THROW(device_->write(x, 2, two), std::out_of_range);
  EXPECT_THROW(device_->fill(at::zeros({2, 2}, on_gpu()).t(), std::byte{0}), std::invalid_argument);
}

TEST_F(GpuDevice, memory_is_not_written_from_outside_while_a_capture_is_under_way) {
  const at::Tensor x = at::zeros({1}, on_gpu());
  const auto graph = capture([&] {
    x.add_(1);
    EXPECT_THROW(device_->fill(x, std::byte{0}), std::logic_error);
  });
  graph->replay();
  EXPECT_THAT(read<float>(x), ElementsAre(1));
}

TEST_F(GpuDevice, a_kernel_node_tells_name_grid_and_the_memory_that_its_parameters_point_into) {
  const at::Tensor x = at::zeros({300}, on_gpu());
  const at::Tensor y = at::full({300}, 2, on_gpu());
  const auto graph = capture([&] { x.add_(y); });
  ASSERT_EQ(graph->node_count(), 1u);
  const GraphNode node = graph->nodes().front();
  EXPECT_THAT(node.operation, HasSubstr("elementwise"));
  ASSERT_GE(node.arguments.size(), 4u);
  EXPECT_EQ(node.arguments[0].name, "grid");
  EXPECT_EQ(node.arguments[0].text, "[1, 1, 1]");
  EXPECT_TRUE(touches(*graph, x));
  EXPECT_TRUE(touches(*graph, y));
  EXPECT_FALSE(touches(*graph, at::zeros({300}, on_gpu())));
}

TEST_F(GpuDevice, a_view_counts_as_the_storage_it_lies_in) {
  const at::Tensor x = at::zeros({300}, on_gpu());
  const auto graph = capture([&] { x.narrow(0, 100, 50).add_(1); });
  EXPECT_TRUE(touches(*graph, x));
}

TEST_F(GpuDevice, a_host_value_shows_in_the_parameters_of_its_kernel) {
  const at::Tensor x = at::zeros({4}, on_gpu(at::kLong));
  const auto values_of = [&](int64_t host_value) {
    const auto graph = capture([&] { x.add_(host_value); });
    std::vector<std::string> texts;
    for (const Argument& argument : graph->nodes().front().arguments) {
      if (!argument.memory) texts.push_back(argument.text);
    }
    return texts;
  };
  EXPECT_EQ(values_of(8), values_of(8));
  EXPECT_NE(values_of(8), values_of(9));
}

TEST_F(GpuDevice, fills_and_copies_are_nodes_with_both_ends) {
  const auto pinned = at::TensorOptions().dtype(at::kLong).pinned_memory(true);
  const at::Tensor staging = at::empty({40}, pinned), x = at::zeros({40}, on_gpu(at::kLong));
  const auto copy = capture([&] { x.copy_(staging, /*non_blocking=*/true); });
  ASSERT_EQ(copy->node_count(), 1u);
  EXPECT_EQ(copy->nodes()[0].operation, "memcpy");
  EXPECT_EQ(copy->nodes()[0].arguments[2].text, "320");
  EXPECT_TRUE(touches(*copy, x));
  EXPECT_TRUE(touches(*copy, staging));
  const auto fill = capture([&] { x.zero_(); });
  ASSERT_EQ(fill->node_count(), 1u);
  EXPECT_EQ(fill->nodes()[0].operation, "memset");
  EXPECT_TRUE(touches(*fill, x));
}

TEST_F(GpuDevice, nodes_follow_one_another_on_one_stream) {
  const at::Tensor x = at::zeros({4}, on_gpu());
  const auto graph = capture([&] { x.add_(1).mul_(2).add_(3); });
  const auto nodes = graph->nodes();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_TRUE(nodes[0].after.empty());
  EXPECT_THAT(nodes[1].after, ElementsAre(0));
  EXPECT_THAT(nodes[2].after, ElementsAre(1));
  EXPECT_THAT(graph->dot(), HasSubstr("digraph"));
}

TEST_F(GpuDevice, what_was_freed_in_the_capture_is_known_as_what_it_was) {
  at::Tensor count = at::full({4}, 8, on_gpu(at::kLong));
  const MemoryUse was = device_->memory_of(count);
  const auto graph = capture([&] { count = count.add(1); });
  const auto memory = graph->memory();
  EXPECT_TRUE(std::any_of(memory.begin(), memory.end(),
                          [&](const MemoryUse& use) { return use.address == was.address; }));
  EXPECT_TRUE(touches(*graph, count));
}

TEST_F(GpuDevice, graphs_can_share_a_pool) {
  const at::Tensor x = at::full({4}, 3, on_gpu());
  at::Tensor y, z;
  const auto first = capture([&] { y = x.mul(2); });
  const auto second = capture([&] { z = y.add(1); }, first->pool());
  EXPECT_EQ(second->pool(), first->pool());
  first->replay();
  second->replay();
  EXPECT_THAT(values(z), Each(7));
  EXPECT_NE(capture([&] { y = x.mul(2); })->pool(), first->pool());
}

TEST_F(GpuDevice, what_a_step_throws_passes_through_and_leaves_no_capture) {
  const at::Tensor x = at::zeros({1}, on_gpu());
  struct Unusual {};
  EXPECT_THROW(capture([&] {
                 x.add_(1);
                 throw Unusual();
               }),
               Unusual);
  EXPECT_THROW(capture([&] { x.add_(at::zeros({4}, on_gpu())); }), c10::Error);
  x.add_(2);
  EXPECT_THAT(values(x), ElementsAre(2));
  const auto graph = capture([&] { x.add_(1); });
  EXPECT_EQ(graph->node_count(), 1u);
}

TEST_F(GpuDevice, a_reset_refuses_while_memory_or_graphs_are_alive) {
  device_->reset();
  at::Tensor x = at::zeros({1}, on_gpu());
  auto graph = capture([&] { x.add_(1); });
  EXPECT_THROW(device_->reset(), std::logic_error);
  x.reset();
  EXPECT_THROW(device_->reset(), std::logic_error);
  graph.reset();
  EXPECT_NO_THROW(device_->reset());
}

TEST_F(GpuDevice, a_reset_also_works_after_a_matrix_product_took_its_workspace) {
  { const at::Tensor x = at::zeros({8, 8}, on_gpu()), y = at::mm(x, x); }
  EXPECT_NO_THROW(device_->reset());
}

TEST_F(GpuDevice, a_reset_seeds_the_generator) {
  device_->set_generator({.seed = 5, .offset = 8});
  EXPECT_EQ(device_->generator(), (GeneratorState{.seed = 5, .offset = 8}));
  EXPECT_THROW(device_->set_generator({.seed = 5, .offset = 6}), std::invalid_argument);
  device_->reset();
  EXPECT_EQ(device_->generator(), GeneratorState{});
}

}  // namespace
}  // namespace thaw::test
