// SPDX-License-Identifier: Apache-2.0
//
// The simulated device through the contract of device.h alone.

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "device/sim/sim_device.h"

namespace thaw {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::UnorderedElementsAre;

class DeviceContract : public ::testing::Test {
 protected:
  at::TensorOptions options(at::ScalarType type = at::kFloat) const {
    return at::TensorOptions(device.torch_device()).dtype(type);
  }

  template <class T>
  std::vector<T> values(const at::Tensor& tensor) {
    std::vector<std::byte> scratch;
    const auto bytes = device.read(tensor, scratch);
    std::vector<T> result(bytes.size() / sizeof(T));
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  SimDevice device;
};

int code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const DeviceError& error) {
    return error.code();
  }
  return 0;
}

TEST_F(DeviceContract, a_capture_runs_nothing_and_a_replay_runs_it_once) {
  const at::Tensor count = at::full({2}, 5, options(at::kLong));
  const auto graph = device.capture([&] { count.add_(1); });
  EXPECT_THAT(values<int64_t>(count), ElementsAre(5, 5));
  graph->replay();
  EXPECT_THAT(values<int64_t>(count), ElementsAre(6, 6));
  graph->replay();
  EXPECT_THAT(values<int64_t>(count), ElementsAre(7, 7));
}

TEST_F(DeviceContract, a_node_tells_its_arguments_by_name_type_and_value) {
  const at::Tensor x = at::zeros({4}, options());
  const auto graph = device.capture([&] { x.narrow(0, 1, 2).add_(2.5); });
  ASSERT_EQ(graph->node_count(), 1u);
  const GraphNode node = graph->nodes().front();
  EXPECT_EQ(node.operation, "aten::add.out");  // LibTorch's add_ is add.out into itself
  EXPECT_THAT(node.after, IsEmpty());
  ASSERT_EQ(node.arguments.size(), 4u);
  EXPECT_EQ(node.arguments[0].name, "self");
  EXPECT_EQ(node.arguments[0].type, "Tensor");
  EXPECT_EQ(node.arguments[0].text, "float32 [2] strides [1] offset 1");
  ASSERT_TRUE(node.arguments[0].memory.has_value());
  EXPECT_TRUE(node.arguments[0].memory->read);
  EXPECT_FALSE(node.arguments[0].memory->written);
  EXPECT_EQ(node.arguments[0].memory->address, device.memory_of(x).address);
  EXPECT_EQ(node.arguments[1].name, "other");
  EXPECT_EQ(node.arguments[1].text, "2.5");
  EXPECT_FALSE(node.arguments[1].memory.has_value());
  EXPECT_EQ(node.arguments[2].name, "alpha");
  EXPECT_EQ(node.arguments[2].text, "1");
  EXPECT_EQ(node.arguments[3].name, "out");
  ASSERT_TRUE(node.arguments[3].memory.has_value());
  EXPECT_FALSE(node.arguments[3].memory->read);
  EXPECT_TRUE(node.arguments[3].memory->written);
}

TEST_F(DeviceContract, a_graph_lists_each_piece_of_memory_once) {
  const at::Tensor a = at::zeros({4}, options()), b = at::zeros({4}, options());
  at::Tensor sum;
  const auto graph = device.capture([&] {
    sum = a.add(b);
    sum.add_(a);
  });
  const auto memory = graph->memory();
  ASSERT_EQ(memory.size(), 3u);
  const MemoryUse expected_a = device.memory_of(a), expected_sum = device.memory_of(sum);
  EXPECT_EQ(memory[0].address, expected_a.address);
  EXPECT_EQ(memory[0].generation, expected_a.generation);
  EXPECT_EQ(memory[0].bytes, 16u);
  EXPECT_TRUE(memory[0].read);
  EXPECT_FALSE(memory[0].written);
  EXPECT_FALSE(memory[0].own_pool);
  EXPECT_EQ(memory[2].address, expected_sum.address);
  EXPECT_TRUE(memory[2].written);
  EXPECT_TRUE(memory[2].own_pool);
}

TEST_F(DeviceContract, bytes_are_read_without_a_copy_and_written_and_filled_in_place) {
  const at::Tensor x = at::zeros({3}, options(at::kChar));
  std::vector<std::byte> scratch;
  const auto before = device.read(x, scratch);
  const std::byte two[] = {std::byte{7}, std::byte{8}};
  device.write(x, 1, two);
  EXPECT_THAT(values<int8_t>(x), ElementsAre(0, 7, 8));
  EXPECT_EQ(device.read(x, scratch).data(), before.data());
  device.fill(x, std::byte{0xFF});
  EXPECT_THAT(values<int8_t>(x), ElementsAre(-1, -1, -1));
  EXPECT_THROW(device.write(x, 2, two), std::out_of_range);
  EXPECT_THROW(device.fill(at::zeros({2, 2}, options()).t(), std::byte{0}), std::invalid_argument);
}

TEST_F(DeviceContract, memory_that_a_graph_uses_is_live_then_freed_then_reused) {
  at::Tensor x = at::zeros({4}, options());
  at::Tensor y;
  const auto graph = device.capture([&] { y = x.mul(2); });
  const MemoryUse input = graph->memory()[0];
  EXPECT_EQ(device.state(input), MemoryState::live);
  x.reset();
  EXPECT_EQ(device.state(input), MemoryState::freed);
  x = at::zeros({4}, options());
  EXPECT_EQ(device.memory_of(x).address, input.address);
  EXPECT_EQ(device.state(input), MemoryState::reused);
}

TEST_F(DeviceContract, memory_of_a_graphs_own_pool_stays_its_own_when_tensors_go) {
  const at::Tensor x = at::zeros({4}, options());
  at::Tensor y;
  const auto graph = device.capture([&] { y = x.mul(2); });
  const MemoryUse output = graph->memory()[1];
  y.reset();
  EXPECT_EQ(device.state(output), MemoryState::live);
  CaptureOptions same_pool;
  same_pool.pool = graph->pool();
  const auto second = device.capture([&] { y = x.mul(3); }, same_pool);
  EXPECT_EQ(second->pool(), graph->pool());
  EXPECT_EQ(device.state(output), MemoryState::reused);
  EXPECT_EQ(device.state(second->memory()[1]), MemoryState::live);
}

TEST_F(DeviceContract, a_step_that_waits_for_the_device_is_refused_and_leaves_no_capture) {
  const at::Tensor x = at::zeros({1}, options());
  EXPECT_EQ(code_of([&] { device.capture([&] { x.item(); }); }), 900);
  EXPECT_EQ(code_of([&] {
              device.capture([&] {
                EXPECT_EQ(code_of([&] { x.item(); }), 900);
                EXPECT_EQ(code_of([&] { x.add_(1); }), 901);
              });
            }),
            901);
  x.add_(1);
  EXPECT_THAT(values<float>(x), ElementsAre(1));
}

TEST_F(DeviceContract, what_a_step_throws_passes_through_and_leaves_no_capture) {
  const at::Tensor x = at::zeros({1}, options());
  struct Unusual {};
  EXPECT_THROW(device.capture([&] {
    x.add_(1);
    throw Unusual();
  }),
               Unusual);
  x.add_(2);
  EXPECT_THAT(values<float>(x), ElementsAre(2));
  const auto graph = device.capture([&] { x.add_(1); });
  EXPECT_EQ(graph->node_count(), 1u);
}

TEST_F(DeviceContract, a_replay_that_fails_on_what_memory_holds_is_a_device_error) {
  const at::Tensor table = at::zeros({4, 2}, options());
  const at::Tensor index = at::zeros({1}, options(at::kLong));
  const at::Tensor row = at::full({1, 2}, 3, options());
  const auto graph = device.capture([&] { table.index_copy_(0, index, row); });
  graph->replay();
  index.fill_(4);
  EXPECT_EQ(code_of([&] { graph->replay(); }), 710);
  EXPECT_EQ(code_of([&] { table.index_copy_(0, index, row); }), 710);
  EXPECT_THROW(table.index_copy_(0, index, table), c10::Error);
}

TEST_F(DeviceContract, a_reset_refuses_while_memory_or_graphs_are_alive_and_names_how_many) {
  at::Tensor x = at::zeros({1}, options());
  auto graph = device.capture([&] { x.add_(1); });
  try {
    device.reset();
    FAIL() << "a reset with a live tensor and a graph";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 blocks"));
    EXPECT_THAT(error.what(), HasSubstr("1 graphs"));
  }
  x.reset();
  EXPECT_THROW(device.reset(), std::logic_error);
  graph.reset();
  EXPECT_NO_THROW(device.reset());
}

TEST_F(DeviceContract, after_a_reset_everything_is_as_at_first) {
  const auto run = [&] {
    at::Tensor x = at::empty({300}, options());
    const at::Tensor kept = at::arange(7, options(at::kLong));
    { const at::Tensor other = at::empty({100}, options()); }
    at::Tensor y;
    const auto graph = device.capture([&] { y = x.add(1).bernoulli(); });
    x.fill_(-0.5);
    graph->replay();
    std::vector<uint64_t> facts = {graph->pool(), device.memory_of(x).address,
                                   device.memory_of(x).generation, device.memory_of(y).generation};
    for (const float value : values<float>(y)) facts.push_back(value != 0);
    for (const int64_t value : values<int64_t>(kept)) facts.push_back(value);
    return facts;
  };
  const auto first = run();
  device.reset();
  device.set_poison_freed(false);
  { const at::Tensor other = at::full({1000}, 3, options()); }
  device.reset();
  EXPECT_EQ(run(), first);
}

TEST_F(DeviceContract, freed_memory_is_poisoned_or_left_alone_as_the_option_says) {
  for (const bool poison : {true, false}) {
    device.set_poison_freed(poison);
    at::Tensor x = at::full({4}, 3, options());
    at::Tensor y;
    const auto graph = device.capture([&] { y = x.add(1); });
    x.reset();
    graph->replay();
    const std::vector<float> seen = values<float>(y);
    if (poison) {
      EXPECT_TRUE(std::isnan(seen[0]));
    } else {
      EXPECT_EQ(seen[0], 4);
    }
  }
}

TEST_F(DeviceContract, a_replay_inside_a_capture_is_refused_by_name) {
  const at::Tensor x = at::zeros({1}, options());
  const auto graph = device.capture([&] { x.add_(1); });
  try {
    device.capture([&] { graph->replay(); });
    FAIL() << "a child graph was accepted";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("not simulated"));
    EXPECT_FALSE(error.refused_capture());
  }
}

TEST_F(DeviceContract, a_resized_output_leaves_what_a_graph_recorded_as_it_was) {
  at::Tensor x = at::full({2}, 3, options());
  const at::Tensor y = at::zeros({2}, options());
  const auto graph = device.capture([&] { y.add_(x); });
  const at::Tensor kept = x;
  const at::Tensor wide = at::full({5}, 7, options());
  const uintptr_t recorded = device.memory_of(x).address;
  y.add_(x);
  at::add_out(x, wide, wide);
  EXPECT_THAT(values<float>(x), ElementsAre(14, 14, 14, 14, 14));
  EXPECT_NE(device.memory_of(x).address, recorded);
  EXPECT_EQ(device.state(graph->memory()[1]), MemoryState::freed);
  EXPECT_EQ(graph->nodes()[0].arguments[1].text, "float32 [2] strides [1]");
  x.add_(1);
  EXPECT_THAT(values<float>(x), ElementsAre(15, 15, 15, 15, 15));
}

TEST_F(DeviceContract, a_failed_operation_leaves_its_tensors_usable) {
  const at::Tensor x = at::full({2, 3}, 2, options());
  at::Tensor out = at::zeros({1}, options());
  EXPECT_THROW(at::mm_out(out, x, x), c10::Error);
  EXPECT_THROW(x.add_(at::zeros({4}, options())), c10::Error);
  at::sum_out(out, x, at::IntArrayRef{0, 1}, /*keepdim=*/false);
  EXPECT_EQ(out.dim(), 0);
  EXPECT_THAT(values<float>(out), ElementsAre(12));
}

TEST_F(DeviceContract, tensors_that_share_memory_share_it_in_kernels) {
  const at::Tensor x = at::arange(6, options());
  const at::Tensor left = x.narrow(0, 0, 4), right = x.narrow(0, 2, 4);
  EXPECT_THROW(at::add_out(const_cast<at::Tensor&>(left), right, right), c10::Error);
  x.narrow(0, 0, 3).add_(x.narrow(0, 3, 3));
  EXPECT_THAT(values<float>(x), ElementsAre(3, 5, 7, 3, 4, 5));
}

TEST_F(DeviceContract, what_was_first_used_in_inference_mode_can_be_used_outside_it) {
  at::Tensor x = at::zeros({2}, options());
  {
    const c10::InferenceMode inference;
    x.add_(1);
  }
  x.add_(1);
  x.requires_grad_(true);
  const at::Tensor loss = x.mul(x).sum();
  loss.backward();
  EXPECT_THAT(values<float>(x.grad()), ElementsAre(4, 4));
}

TEST_F(DeviceContract, pinned_memory_that_a_graph_reads_is_known_to_be_freed_or_reused) {
  const auto pinned_options = at::TensorOptions().dtype(at::kLong).pinned_memory(true);
  at::Tensor staging = at::empty({2}, pinned_options);
  staging.fill_(4);
  const at::Tensor x = at::zeros({2}, options(at::kLong));
  const auto graph = device.capture([&] { x.copy_(staging, /*non_blocking=*/true); });
  const GraphNode node = graph->nodes().front();
  EXPECT_EQ(node.operation, "memcpy");
  const MemoryUse source = *node.arguments[1].memory;
  EXPECT_TRUE(source.host);
  EXPECT_TRUE(source.read);
  EXPECT_EQ(source.address, device.memory_of(staging).address);
  graph->replay();
  EXPECT_THAT(values<int64_t>(x), ElementsAre(4, 4));
  EXPECT_EQ(device.state(source), MemoryState::live);
  staging.reset();
  EXPECT_EQ(device.state(source), MemoryState::freed);
  staging = at::empty({2}, pinned_options);
  EXPECT_EQ(device.state(source), MemoryState::reused);
}

TEST_F(DeviceContract, a_pools_memory_goes_to_everybody_with_its_last_graph) {
  const at::Tensor x = at::zeros({1000}, options());
  at::Tensor y;
  const auto step = [&] { y = x.add(1); };
  auto first = device.capture(step);
  const uintptr_t first_address = device.memory_of(y).address;
  CaptureOptions same_pool;
  same_pool.pool = first->pool();
  auto second = device.capture(step, same_pool);  // y keeps the first memory meanwhile
  const uintptr_t second_address = device.memory_of(y).address;
  y.reset();
  const auto eager_address = [&](std::vector<at::Tensor>& kept) {
    kept.push_back(at::empty({1000}, options()));
    return device.memory_of(kept.back()).address;
  };
  std::vector<at::Tensor> kept;
  first.reset();
  EXPECT_THAT(eager_address(kept), AllOf(Ne(first_address), Ne(second_address)));
  second.reset();
  EXPECT_THAT((std::vector<uintptr_t>{eager_address(kept), eager_address(kept)}),
              UnorderedElementsAre(first_address, second_address));
}

TEST_F(DeviceContract, host_values_are_shown_by_value) {
  const at::Tensor x = at::zeros({2, 3}, options());
  const at::Tensor five = at::scalar_tensor(5);
  const auto graph = device.capture([&] {
    x.mul_(five);
    x.sum(at::IntArrayRef{0, 1}, /*keepdim=*/true, at::kDouble);
    at::cat({x, x}, 1);
  });
  const std::vector<GraphNode> nodes = graph->nodes();
  const auto text_of = [&](const std::string& operation, const std::string& name) {
    for (const GraphNode& node : nodes) {
      if (node.operation != operation) continue;
      for (const Argument& argument : node.arguments) {
        if (argument.name == name) return argument.text;
      }
    }
    return std::string("absent");
  };
  EXPECT_EQ(text_of("aten::mul.out", "other"), "5");
  EXPECT_EQ(text_of("aten::sum.IntList_out", "dim"), "[0, 1]");
  EXPECT_EQ(text_of("aten::sum.IntList_out", "keepdim"), "true");
  EXPECT_EQ(text_of("aten::sum.IntList_out", "dtype"), "float64");
  EXPECT_EQ(text_of("aten::cat.out", "tensors[1]"), "float32 [2, 3] strides [3, 1]");
}

TEST_F(DeviceContract, what_libtorch_has_no_cpu_kernel_for_is_refused_by_name) {
  const at::Tensor x = at::zeros({4}, options(at::kFloat8_e4m3fn));
  const at::Tensor index = at::zeros({1}, options(at::kLong));
  const at::Tensor source = at::zeros({1}, options(at::kFloat8_e4m3fn));
  const auto refused_step = [&] { x.index_copy_(0, index, source); };
  for (const bool captured : {false, true}) {
    try {
      captured ? static_cast<void>(device.capture(refused_step)) : refused_step();
      FAIL() << "an operation without a kernel ran";
    } catch (const DeviceError& error) {
      EXPECT_THAT(error.what(), HasSubstr("not simulated: aten::index_copy"));
      EXPECT_THAT(error.what(), HasSubstr("Float8_e4m3fn"));
    }
  }
}

TEST_F(DeviceContract, memory_is_not_written_from_outside_during_a_capture) {
  const at::Tensor x = at::zeros({1}, options());
  device.capture([&] {
    EXPECT_THROW(device.fill(x, std::byte{1}), std::logic_error);
    EXPECT_THROW(device.write(x, 0, {}), std::logic_error);
  });
}

TEST_F(DeviceContract, tensors_of_another_device_are_not_touched) {
  const at::Tensor x = at::zeros({1}, options());
  SimDevice other;
  EXPECT_EQ(code_of([&] { x.add_(1); }), 700);
  const at::Tensor y = at::zeros({1}, options());
  const auto graph = other.capture([&] { y.add_(1); });
  graph->replay();
  EXPECT_THAT(values<float>(y), ElementsAre(1));
  EXPECT_THAT(values<float>(x), ElementsAre(0));
}

TEST_F(DeviceContract, the_graph_as_text_names_operations_and_edges) {
  const at::Tensor x = at::zeros({1}, options());
  const auto graph = device.capture([&] {
    x.add_(1);
    x.mul_(2);
  });
  EXPECT_THAT(graph->dot(), HasSubstr("0: aten::add.out"));
  EXPECT_THAT(graph->dot(), HasSubstr("n0 -> n1;"));
}

}  // namespace
}  // namespace thaw
