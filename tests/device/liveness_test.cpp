// SPDX-License-Identifier: Apache-2.0
//
// What the device knows of the memory that a graph would touch.
#include <optional>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

class Liveness : public DeviceTest {
 protected:
  /// How the graph knows the memory of a tensor.
  static std::optional<MemoryUse> use_of(const Graph& graph, uintptr_t address) {
    for (const MemoryUse& use : graph.memory()) {
      if (use.address == address) return use;
    }
    return std::nullopt;
  }

  size_t not_live(const Graph& graph) const {
    const auto memory = graph.memory();
    return static_cast<size_t>(std::count_if(memory.begin(), memory.end(), [&](const auto& use) {
      return device_.state(use) != MemoryState::live;
    }));
  }

  at::Tensor x_ = at::ones({128}, on_device());
};

TEST_F(Liveness, all_memory_of_a_graph_is_live_while_its_tensors_are) {
  EXPECT_TRUE(device_.abilities().exact_liveness);
  at::Tensor pinned = sim::pinned_empty({128}, at::kFloat);
  at::Tensor out;
  auto graph = capture([&] {
    x_.copy_(pinned, /*non_blocking=*/true);
    out = (x_ + 1) * 2;
  });
  EXPECT_EQ(graph->memory().size(), 4u) << "x, pinned, the temporary, out";
  EXPECT_EQ(not_live(*graph), 0u);
  graph->replay();
  for (int allocation = 0; allocation < 4; ++allocation) at::ones({128}, on_device());
  EXPECT_EQ(not_live(*graph), 0u) << "allocations beside do not matter";
}

TEST_F(Liveness, each_piece_of_memory_is_told_once_with_how_it_is_used) {
  at::Tensor written = at::zeros({128}, on_device());
  auto graph = capture([&] {
    written.copy_(x_);
    written.narrow(0, 3, 5).add_(x_.narrow(0, 0, 5));
    written.narrow(0, 1, 1).fill_(2);
  });
  ASSERT_EQ(graph->memory().size(), 2u) << "views are of one storage";
  const auto source = use_of(*graph, device_.memory_of(x_).address);
  const auto target = use_of(*graph, device_.memory_of(written).address);
  ASSERT_TRUE(source && target);
  EXPECT_TRUE(source->read);
  EXPECT_FALSE(source->written);
  EXPECT_TRUE(target->written);
  EXPECT_EQ(source->bytes, 512u);
  EXPECT_FALSE(source->host);
  EXPECT_FALSE(source->own_pool);
  EXPECT_EQ(source->generation, device_.memory_of(x_).generation);
}

TEST_F(Liveness, a_freed_input_is_freed) {
  at::Tensor input = at::ones({512}, on_device());
  auto graph = capture([&] { x_.add_(input[0]); });
  const auto use = use_of(*graph, device_.memory_of(input).address);
  ASSERT_TRUE(use);
  EXPECT_EQ(device_.state(*use), MemoryState::live);
  input.reset();
  EXPECT_EQ(device_.state(*use), MemoryState::freed);
  EXPECT_EQ(not_live(*graph), 1u);
}

TEST_F(Liveness, a_view_keeps_an_input_alive) {
  at::Tensor input = at::ones({512}, on_device());
  auto graph = capture([&] { x_.add_(input[0]); });
  at::Tensor view = input.narrow(0, 100, 1);
  input.reset();
  EXPECT_EQ(not_live(*graph), 0u);
  view.reset();
  EXPECT_EQ(not_live(*graph), 1u);
}

TEST_F(Liveness, an_input_that_was_freed_and_handed_out_again_is_reused) {
  at::Tensor input = at::ones({512}, on_device());
  auto graph = capture([&] { x_.add_(input[0]); });
  const MemoryUse use = *use_of(*graph, device_.memory_of(input).address);
  input.reset();
  at::Tensor thief = at::ones({512}, on_device());
  ASSERT_EQ(device_.memory_of(thief).address, use.address);
  EXPECT_EQ(device_.state(use), MemoryState::reused);
  EXPECT_NE(device_.memory_of(thief).generation, use.generation);
  thief.reset();
  EXPECT_NE(device_.state(use), MemoryState::live) << "freed once more, and still not what it was";
}

TEST_F(Liveness, a_tensor_rebound_in_a_step_shows_as_freed) {
  at::Tensor count = at::zeros({1}, on_device(at::kLong));
  auto graph = capture([&] { count = count + 1; });
  EXPECT_EQ(not_live(*graph), 1u) << "nobody holds what the graph reads";

  at::Tensor in_place = at::zeros({1}, on_device(at::kLong));
  EXPECT_EQ(not_live(*capture([&] { in_place.add_(1); })), 0u);
}

TEST_F(Liveness, memory_of_the_graphs_own_pool_stays_live_when_its_tensors_go) {
  at::Tensor out;
  auto graph = capture([&] { out = (x_ + 1) * 2; });
  out.reset();
  EXPECT_EQ(not_live(*graph), 0u);
  graph->replay();
  EXPECT_EQ(not_live(*graph), 0u);
}

TEST_F(Liveness, memory_that_a_pool_handed_to_a_later_graph_is_reused) {
  at::Tensor out;
  auto first = capture([&] { out = x_ + 1; });
  const MemoryUse use = *use_of(*first, device_.memory_of(out).address);
  EXPECT_TRUE(use.own_pool);
  out.reset();
  at::Tensor other;
  auto second = capture([&] { other = x_ + 2; }, first->pool());
  ASSERT_EQ(device_.memory_of(other).address, use.address);
  EXPECT_EQ(device_.state(use), MemoryState::reused);
  EXPECT_EQ(not_live(*first), 1u);
  EXPECT_EQ(not_live(*second), 0u);
}

TEST_F(Liveness, a_shared_pool_whose_tensors_are_held_stays_live) {
  at::Tensor out, other;
  auto first = capture([&] { out = x_ + 1; });
  auto second = capture([&] { other = out + 2; }, first->pool());
  EXPECT_EQ(not_live(*first), 0u);
  EXPECT_EQ(not_live(*second), 0u);
}

TEST_F(Liveness, a_freed_pinned_source_is_freed) {
  at::Tensor pinned = sim::pinned_empty({128}, at::kFloat);
  auto graph = capture([&] { x_.copy_(pinned, /*non_blocking=*/true); });
  const auto use = use_of(*graph, device_.memory_of(pinned).address);
  ASSERT_TRUE(use);
  EXPECT_TRUE(use->host);
  EXPECT_TRUE(use->read);
  EXPECT_FALSE(use->written);
  EXPECT_EQ(device_.state(*use), MemoryState::live);
  pinned.reset();
  EXPECT_EQ(device_.state(*use), MemoryState::freed);
  const at::Tensor thief = sim::pinned_empty({128}, at::kFloat);
  EXPECT_EQ(device_.state(*use), MemoryState::reused);
}

TEST_F(Liveness, memory_of_tells_a_tensors_storage) {
  const MemoryUse whole = device_.memory_of(x_);
  const MemoryUse view = device_.memory_of(x_.narrow(0, 8, 4));
  EXPECT_EQ(view.address, whole.address);
  EXPECT_EQ(view.generation, whole.generation);
  EXPECT_EQ(whole.bytes, 512u);
  EXPECT_EQ(device_.state(whole), MemoryState::live);
  EXPECT_NE(device_.memory_of(at::ones({128}, on_device())).address, whole.address);
}

}  // namespace
}  // namespace thaw::test
