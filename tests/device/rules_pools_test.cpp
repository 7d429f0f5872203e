// SPDX-License-Identifier: Apache-2.0
//
// The memory pools of graphs: rules 41 to 46 and 48.
#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;

class RulesOfPools : public DeviceTest {
 protected:
  const at::Tensor x_ = at::ones({256}, on_device());
};

TEST_F(RulesOfPools, rule_41_a_capture_allocates_from_its_graphs_pool) {
  const size_t general = sim::memory_stats(0).live_bytes;
  at::Tensor out;
  auto graph = capture([&] { out = (x_ + 1) * 2; });
  EXPECT_EQ(sim::memory_stats(0).live_bytes, general);
  EXPECT_EQ(sim::memory_stats(graph->pool()).blocks, 2u) << "the temporary and the result";

  size_t own = 0;
  for (const MemoryUse& use : graph->memory()) {
    own += use.own_pool;
    EXPECT_EQ(use.own_pool, use.address != device_.memory_of(x_).address);
  }
  EXPECT_EQ(own, 2u);
}

TEST_F(RulesOfPools, rule_41_eager_work_and_other_streams_never_get_the_pools_memory) {
  const c10::Stream other = sim::new_stream();
  uintptr_t temporary = 0;
  at::Tensor beside;
  std::unique_ptr<Graph> graph = capture([&] {
    temporary = address_of(x_ + 1);
    c10::StreamGuard guard(other);
    beside = at::empty({256}, on_device());
  });
  EXPECT_EQ(sim::memory_stats(graph->pool()).blocks, 1u) << "the stream beside does not capture";
  EXPECT_NE(address_of(beside), temporary);
  for (int allocation = 0; allocation < 4; ++allocation) {
    EXPECT_NE(address_of(at::empty({256}, on_device())), temporary);
  }
}

TEST_F(RulesOfPools, rule_42_memory_freed_in_a_capture_is_handed_out_again_in_it) {
  uintptr_t first = 0, second = 0;
  at::Tensor out;
  auto graph = capture([&] {
    first = address_of(x_ + 1);
    second = address_of(x_ + 2);
    out = x_ + 3;
  });
  EXPECT_EQ(first, second);
  EXPECT_EQ(address_of(out), first);
  EXPECT_EQ(sim::memory_stats(graph->pool()).blocks, 1u);
  graph->replay();
  EXPECT_THAT(values(out), Each(4)) << "the last of the three";
}

TEST_F(RulesOfPools, rule_42_two_tensors_that_live_at_once_have_two_places) {
  at::Tensor first, second;
  auto graph = capture([&] {
    first = x_ + 1;
    second = x_ + 2;
  });
  EXPECT_NE(address_of(first), address_of(second));
  graph->replay();
  EXPECT_THAT(values(first), Each(2));
  EXPECT_THAT(values(second), Each(3));
}

TEST_F(RulesOfPools, rule_43_a_pool_keeps_its_memory_until_its_last_graph_goes) {
  c10::StreamGuard guard(sim::new_stream());  // memory is reused within a stream
  uintptr_t temporary = 0;
  sim::Capture first_capture;
  temporary = address_of(x_ + 1);
  auto first = first_capture.end();
  sim::Capture second_capture(sim::CaptureMode::global, first->pool());
  EXPECT_EQ(address_of(x_ + 2), temporary);
  auto second = second_capture.end();

  first.reset();
  EXPECT_NE(address_of(at::empty({256}, on_device())), temporary);
  second.reset();
  bool came_back = false;
  std::vector<at::Tensor> held;
  for (int allocation = 0; allocation < 2; ++allocation) {
    held.push_back(at::empty({256}, on_device()));
    came_back |= address_of(held.back()) == temporary;
  }
  EXPECT_TRUE(came_back) << "general memory again";
}

TEST_F(RulesOfPools, rule_44_a_replay_does_not_touch_the_allocator) {
  at::Tensor out;
  auto graph = capture([&] { out = (x_ + 1) * 2; });
  const uintptr_t address = address_of(out);
  const size_t blocks = sim::live_blocks();
  const size_t pool_bytes = sim::memory_stats(graph->pool()).live_bytes;
  const uint64_t generation = device_.memory_of(out).generation;
  for (int replay = 0; replay < 3; ++replay) graph->replay();
  EXPECT_EQ(sim::live_blocks(), blocks);
  EXPECT_EQ(sim::memory_stats(graph->pool()).live_bytes, pool_bytes);
  EXPECT_EQ(address_of(out), address);
  EXPECT_EQ(device_.memory_of(out).generation, generation);
}

TEST_F(RulesOfPools, rule_44_a_result_must_be_cloned_before_the_next_replay) {
  at::Tensor in = at::ones({4}, on_device());
  at::Tensor out;
  auto graph = capture([&] { out = in * 10; });
  graph->replay();
  const at::Tensor held = out, cloned = out.clone();
  in.fill_(2);
  graph->replay();
  EXPECT_THAT(values(held), Each(20)) << "overwritten";
  EXPECT_THAT(values(cloned), Each(10));
}

TEST_F(RulesOfPools, rule_45_a_second_graph_of_a_pool_reuses_what_the_first_let_go) {
  at::Tensor out;
  auto first = capture([&] { out = x_ + 3; });
  const uintptr_t address = address_of(out);
  out.reset();
  at::Tensor other;
  auto second = capture([&] { other = x_ + 10; }, first->pool());
  EXPECT_EQ(second->pool(), first->pool());
  EXPECT_EQ(address_of(other), address);

  first->replay();
  second->replay();
  EXPECT_THAT(values(other), Each(11)) << "in the order of capture";
  first->replay();
  EXPECT_THAT(values(other), Each(4)) << "out of order the first writes over the second's result";
}

TEST_F(RulesOfPools, rule_45_with_pools_of_their_own_graphs_replay_in_any_order) {
  at::Tensor out;
  auto first = capture([&] { out = x_ + 3; });
  out.reset();
  at::Tensor other;
  auto second = capture([&] { other = x_ + 10; });
  EXPECT_NE(second->pool(), first->pool());
  second->replay();
  first->replay();
  EXPECT_THAT(values(other), Each(11));
}

TEST_F(RulesOfPools, rule_45_a_pool_that_never_was_is_refused) {
  auto graph = capture([&] { x_ + 1; });
  EXPECT_THROW(capture([] {}, graph->pool() + 1000), std::invalid_argument);
  EXPECT_FALSE(sim::stream_is_capturing());
  EXPECT_NO_THROW(capture([] {}, graph->pool()));
}

TEST_F(RulesOfPools, rule_46_the_memory_of_a_freed_input_goes_to_anyone) {
  at::Tensor out;
  at::Tensor input = at::ones({512}, on_device());
  auto graph = capture([&] { out = input * 2; });
  graph->replay();
  EXPECT_THAT(values(out), Each(2));
  const uintptr_t address = address_of(input);
  input.reset();
  const at::Tensor thief = at::full({512}, 50, on_device());
  ASSERT_EQ(address_of(thief), address);
  graph->replay();
  EXPECT_THAT(values(out), Each(100)) << "no error: the thief's contents";
}

TEST_F(RulesOfPools, rule_46_a_freed_input_that_is_written_corrupts_the_thief) {
  at::Tensor input = at::ones({512}, on_device());
  auto graph = capture([&] { input.fill_(-1); });
  input.reset();
  const at::Tensor thief = at::full({512}, 50, on_device());
  graph->replay();
  EXPECT_THAT(values(thief), Each(-1));
}

TEST_F(RulesOfPools, rule_46_a_freed_tensor_of_the_graphs_pool_keeps_its_place) {
  at::Tensor sum = at::zeros({256}, on_device());
  at::Tensor temporary;
  auto graph = capture([&] {
    temporary = x_ + 1;
    sum.add_(temporary);
  });
  temporary.reset();
  const at::Tensor stranger = at::full({256}, 50, on_device());
  graph->replay();
  graph->replay();
  EXPECT_THAT(values(sum), Each(4));
  EXPECT_THAT(values(stranger), Each(50));
}

TEST_F(RulesOfPools, rule_48_a_graphs_pool_is_released_with_the_graph) {
  auto graph = capture([&] { x_ + 1; });
  const uint64_t pool = graph->pool();
  EXPECT_EQ(sim::memory_stats(pool).blocks, 1u);
  graph.reset();
  EXPECT_EQ(sim::memory_stats(pool).blocks, 0u);
}

TEST_F(RulesOfPools, rule_48_a_tensor_that_outlives_its_pools_last_graph_keeps_its_memory) {
  at::Tensor kept;
  auto graph = capture([&] { kept = x_ + 1; });
  graph->replay();
  graph.reset();
  EXPECT_THAT(values(kept), Each(values(x_)[0] + 1));
  const uintptr_t address = address_of(kept);
  std::vector<at::Tensor> held{at::empty_like(x_), at::empty_like(x_)};
  for (const at::Tensor& tensor : held) EXPECT_NE(address_of(tensor), address);
  kept.reset();
  EXPECT_EQ(address_of(at::empty_like(x_)), address) << "then it is anybody's";
}

TEST_F(RulesOfPools, rule_47_memory_used_on_a_second_stream_stays_while_a_capture_is_under_way) {
  for (const bool recorded : {false, true}) {
    at::Tensor tensor = at::empty({1024}, on_device());
    const uintptr_t address = address_of(tensor);
    if (recorded) tensor.record_stream(sim::new_stream());
    {
      c10::StreamGuard guard(sim::new_stream());
      sim::Capture capture;
      tensor.reset();
      c10::StreamGuard on_default(c10::Stream(c10::Stream::DEFAULT, device_.torch_device()));
      EXPECT_EQ(address_of(at::empty({1024}, on_device())) == address, !recorded);
    }
    EXPECT_EQ(address_of(at::empty({1024}, on_device())) == address, true) << "no capture any more";
  }
}

}  // namespace
}  // namespace thaw::test
