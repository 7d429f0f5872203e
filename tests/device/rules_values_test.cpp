// SPDX-License-Identifier: Apache-2.0
//
// What a graph holds by value and what by address: rules 33 to 39.
#include <ATen/ops/addcdiv.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/atan2.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class RulesOfValues : public DeviceTest {};

TEST_F(RulesOfValues, rule_33_host_scalars_are_frozen_at_capture) {
  const at::Tensor one = at::ones({1}, on_device());
  at::Tensor narrowed = at::zeros({6}, on_device()), sliced = at::zeros({6}, on_device());
  at::Tensor copied = at::zeros({6}, on_device()), selected = at::zeros({6}, on_device());
  int64_t length = 1;
  const auto step = [&] {
    narrowed.narrow(0, length, 1).copy_(one);
    sliced.slice(0, length, length + 1).add_(1);
    copied.index_copy_(0, at::arange(length, length + 1, on_device(at::kLong)), one);
    selected.select(0, length).fill_(length);
    ++length;
  };
  auto graph = capture(step);
  for (int replay = 0; replay < 3; ++replay) graph->replay();
  EXPECT_EQ(length, 2) << "host code ran once, at capture";
  EXPECT_THAT(values(narrowed), ElementsAre(0, 1, 0, 0, 0, 0));
  EXPECT_THAT(values(sliced), ElementsAre(0, 3, 0, 0, 0, 0));
  EXPECT_THAT(values(copied), ElementsAre(0, 1, 0, 0, 0, 0));
  EXPECT_THAT(values(selected), ElementsAre(0, 1, 0, 0, 0, 0));

  step();
  EXPECT_THAT(values(narrowed), ElementsAre(0, 1, 1, 0, 0, 0)) << "eagerly the host's value counts";
}

TEST_F(RulesOfValues, rule_33_a_position_on_the_device_is_not_frozen) {
  const at::Tensor one = at::ones({1}, on_device());
  at::Tensor slots = at::zeros({6}, on_device());
  at::Tensor position = at::ones({1}, on_device(at::kLong));
  auto graph = capture([&] {
    slots.index_copy_(0, position, one);
    position.add_(1);
  });
  for (int replay = 0; replay < 3; ++replay) graph->replay();
  EXPECT_THAT(values(slots), ElementsAre(0, 1, 1, 1, 0, 0));
  EXPECT_EQ(values<int64_t>(position)[0], 4);
}

TEST_F(RulesOfValues, rule_33_promotion_of_a_host_number_is_kept) {
  const at::Tensor x = at::ones({3}, on_device(at::kHalf));
  double factor = 3;
  at::Tensor product;
  auto graph = capture([&] { product = x * factor; });
  factor = 100;
  graph->replay();
  EXPECT_EQ(product.scalar_type(), at::kHalf);
  EXPECT_THAT(values(product.to(at::kFloat)), Each(3));
}

TEST_F(RulesOfValues, rule_34_a_host_tensor_without_dimensions_is_read_at_capture) {
  const at::Tensor x = at::ones({3}, on_device());
  at::Tensor filled = at::zeros({3}, on_device());
  at::Tensor scalar = at::scalar_tensor(5, at::kDouble);
  at::Tensor product, chosen;
  auto graph = capture([&] {
    product = x * scalar;
    chosen = at::where(x > 0, x + scalar, x);
    filled.fill_(scalar);
  });
  scalar.fill_(100);
  graph->replay();
  EXPECT_EQ(product.scalar_type(), at::kFloat);
  EXPECT_THAT(values(product), Each(5));
  EXPECT_THAT(values(chosen), Each(6));
  EXPECT_THAT(values(filled), Each(5));
  EXPECT_THROW(x * at::ones({3}), c10::Error) << "a host tensor with a dimension";
  EXPECT_THROW(x * at::ones({1}), c10::Error);
}

TEST_F(RulesOfValues, rule_34_host_scalars_are_taken_where_cuda_takes_them) {
  const at::Tensor x = at::ones({2, 2}, on_device()), mask = x > 0;
  const at::Tensor index = at::zeros({2}, on_device(at::kLong));
  const at::Tensor scalar = at::scalar_tensor(1), position = at::scalar_tensor(1, at::kLong);
  const std::function<void()> taken[] = {
      [&] { x + scalar; },
      [&] { x.clone().mul_(scalar); },
      [&] { x.ge(scalar); },
      [&] { x.clone().masked_fill_(mask, scalar); },
      [&] { x.clone().index_fill_(0, index, scalar); },
      [&] { x.clone().fill_(scalar); },
      [&] { at::where(mask, x, scalar); },
      [&] { x.clamp_min(scalar); },
      [&] { x.lerp(x, scalar); },
      [&] { at::addcmul(x, x, scalar); },
      [&] { at::atan2(x, scalar); },
      [&] { x.floor_divide(scalar); },
      [&] { x.clone().index_put_({mask}, scalar); },
  };
  for (const auto& call : taken) {
    EXPECT_NO_THROW(call());
    EXPECT_NO_THROW(capture(call));
  }
  const std::function<void()> refused[] = {
      [&] { x.mm(scalar); },
      [&] {
        at::cat({x, scalar});
      },
      [&] {
        at::stack({x[0][0], scalar});
      },
      [&] { x.index_select(0, position); },
      [&] { x.clone().index_copy_(0, index, scalar); },
      [&] { x.clone().index_add_(0, index, scalar); },
      [&] { x.gather(0, position); },
      [&] { x.clone().scatter_(0, position, 1); },
      [&] { x.clone().masked_fill_(scalar > 0, 2); },
      [&] { at::embedding(x, position); },
      [&] { x.clamp(scalar, {}); },
      [&] { at::addcdiv(x, x, scalar); },
      [&] { x.clone().clamp_(scalar, {}); },
  };
  for (const auto& call : refused) {
    EXPECT_THROW(call(), c10::Error);
    auto graph = capture([&] {
      EXPECT_THROW(call(), c10::Error);
      x.add_(1);
    });
    EXPECT_GT(graph->node_count(), 0u) << "a host check: the capture stays valid";
  }
}

TEST_F(RulesOfValues,
       rule_34_a_host_scalar_as_index_is_copied_to_the_device_which_no_capture_holds) {
  const at::Tensor x = at::arange(4, on_device());
  const at::Tensor position = at::scalar_tensor(2, at::kLong), value = at::scalar_tensor(7.f);
  EXPECT_EQ(values(x.index({position}))[0], 2);
  const at::Tensor index = at::ones({1}, on_device(at::kLong));
  x.index_put_({index}, value);
  EXPECT_THAT(values(x), ElementsAre(0, 7, 2, 3));
  auto graph = capture([&] {
    EXPECT_THROW(x.index({position}), c10::Error);
    EXPECT_THROW(x.index_put_({index}, value), c10::Error);
    x.add_(1);
  });
  EXPECT_EQ(graph->node_count(), 1u) << "a host check (rule 37)";
  const at::Tensor pinned = position.pin_memory();
  EXPECT_EQ(code_of([&] { capture([&] { x.index({pinned}); }); }), 900) << "a wait (rule 38)";
}

TEST_F(RulesOfValues, rule_35_the_contents_behind_an_address_are_read_at_each_replay) {
  at::Tensor x = at::ones({2}, on_device());
  at::Tensor sum;
  auto graph = capture([&] { sum = x + 1; });
  const uintptr_t address = address_of(sum);
  for (float value : {5.f, 7.f, 9.f}) {
    x.fill_(value);
    graph->replay();
    EXPECT_THAT(values(sum), Each(value + 1));
    EXPECT_EQ(address_of(sum), address);
  }
}

TEST_F(RulesOfValues, rule_35_binding_the_name_to_another_tensor_changes_nothing_in_the_graph) {
  at::Tensor x = at::ones({2}, on_device());
  at::Tensor captured = x;
  at::Tensor sum;
  auto graph = capture([&] { sum = x + 1; });
  x = at::full({2}, 50, on_device());
  graph->replay();
  EXPECT_THAT(values(sum), Each(2));
  captured.copy_(x);
  graph->replay();
  EXPECT_THAT(values(sum), Each(51));
}

TEST_F(RulesOfValues, rule_35_a_graph_keeps_no_tensor_alive) {
  at::Tensor x = at::ones({2}, on_device());
  auto graph = capture([&] { x.add_(1); });
  EXPECT_EQ(x.use_count(), 1u);
  EXPECT_EQ(x.storage().use_count(), 1u);
  const size_t before = sim::live_blocks();
  x.reset();
  EXPECT_EQ(sim::live_blocks(), before - 1);
}

TEST_F(RulesOfValues, rule_36_a_copy_holds_both_addresses_and_neither_content) {
  at::Tensor source = sim::pinned_empty({2}, at::kFloat);
  source.fill_(1);
  at::Tensor target = at::zeros({2}, on_device());
  auto graph = capture([&] { target.copy_(source, /*non_blocking=*/true); });
  EXPECT_THAT(values(target), Each(0));
  source.fill_(7);
  graph->replay();
  EXPECT_THAT(values(target), Each(7)) << "what the source holds at the replay";
  source.fill_(8);
  graph->replay();
  EXPECT_THAT(values(target), Each(8));
}

TEST_F(RulesOfValues, rule_36_a_copy_to_pinned_memory_arrives_at_the_replay) {
  at::Tensor source = at::full({2}, 3, on_device());
  at::Tensor target = sim::pinned_empty({2}, at::kFloat);
  target.fill_(0);
  auto graph = capture([&] { target.copy_(source, /*non_blocking=*/true); });
  EXPECT_THAT(values(target), Each(0));
  for (float value : {3.f, 4.f, 5.f}) {
    source.fill_(value);
    graph->replay();
    device_.synchronize();
    EXPECT_THAT(values(target), Each(value));
  }
}

TEST_F(RulesOfValues, rule_37_copies_with_pageable_memory_are_refused_and_the_capture_stays_valid) {
  at::Tensor x = at::ones({2}, on_device());
  at::Tensor pageable = at::full({2}, 5, at::kFloat);
  auto graph = capture([&] {
    x.add_(1);
    EXPECT_THROW(x.copy_(pageable), c10::Error);
    EXPECT_THROW(x.copy_(pageable, /*non_blocking=*/true), c10::Error);
    EXPECT_THROW(pageable.copy_(x), c10::Error);
    EXPECT_THROW(pageable.copy_(x, /*non_blocking=*/true), c10::Error);
    EXPECT_THROW(x.cpu(), c10::Error);
    EXPECT_THROW(pageable.to(on_device()), c10::Error);
    EXPECT_THROW(at::tensor({1.f, 2.f}, on_device()), c10::Error);
  });
  EXPECT_EQ(graph->node_count(), 1u);
  EXPECT_THAT(values(pageable), Each(5));
  x.copy_(pageable);
  EXPECT_THAT(values(x), Each(5)) << "legal outside a capture";
}

TEST_F(RulesOfValues, rule_37_pinned_memory_is_told_from_pageable_memory) {
  at::Tensor pinned = at::ones({2}).pin_memory();
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_TRUE(sim::pinned_empty({2}, at::kFloat).is_pinned());
  EXPECT_TRUE(at::empty({2}, at::TensorOptions().pinned_memory(true)).is_pinned());
  EXPECT_FALSE(at::ones({2}).is_pinned());
  at::Tensor x = at::zeros({2}, on_device());
  auto graph = capture([&] { x.copy_(pinned, /*non_blocking=*/true); });
  graph->replay();
  EXPECT_THAT(values(x), Each(1));
}

TEST_F(RulesOfValues, rule_38_blocking_copies_are_refused_with_900_even_from_pinned_memory) {
  at::Tensor x = at::ones({2}, on_device());
  at::Tensor pinned = sim::pinned_empty({2}, at::kFloat);
  pinned.fill_(5);
  for (const bool to_the_device : {true, false}) {
    at::Tensor& target = to_the_device ? x : pinned;
    at::Tensor& source = to_the_device ? pinned : x;
    {
      c10::StreamGuard guard(sim::new_stream());
      sim::Capture capture;
      EXPECT_EQ(code_of([&] { target.copy_(source); }), 900);
      EXPECT_EQ(code_of([&] { capture.end(); }), 901);
    }
    EXPECT_EQ(code_of([&] { capture([&] { target.copy_(source, /*non_blocking=*/true); }); }), 0);
  }
  EXPECT_THAT(values(x), Each(1));
  EXPECT_THAT(values(pinned), Each(5));
}

TEST_F(RulesOfValues, rule_39_filling_memory_is_a_node_with_address_value_and_size) {
  at::Tensor x = at::ones({3}, on_device(at::kByte));
  auto graph = capture([&] { sim::memset_async(x, 7); });
  EXPECT_THAT(values<uint8_t>(x), Each(1));
  const GraphNode node = graph->nodes().front();
  EXPECT_EQ(node.operation, "memset");
  EXPECT_EQ(node.arguments[0].memory->address, address_of(x));
  EXPECT_EQ(node.arguments[0].memory->bytes, 3u);
  EXPECT_EQ(node.arguments[1].text, "7");
  for (int replay = 0; replay < 2; ++replay) {
    x.fill_(1);
    graph->replay();
    EXPECT_THAT(values<uint8_t>(x), Each(7));
  }
  sim::memset_async(x, 9);
  EXPECT_THAT(values<uint8_t>(x), Each(9)) << "outside a capture";
  EXPECT_THROW(sim::memset_async(at::zeros({2, 2}, on_device()).t(), 0), std::invalid_argument);
}

TEST_F(RulesOfValues, rule_39_a_host_function_runs_at_each_replay_and_other_host_code_does_not) {
  at::Tensor x = at::zeros({1}, on_device());
  int function_runs = 0, code_runs = 0;
  float seen = -1;
  const auto look = [&] {
    ++function_runs;
    std::vector<std::byte> scratch;
    std::memcpy(&seen, device_.read(x, scratch).data(), sizeof(seen));
  };
  auto graph = capture([&] {
    x.add_(1);
    sim::launch_host_function(look);
    x.add_(1);
    ++code_runs;
  });
  EXPECT_EQ(function_runs, 0);
  EXPECT_EQ(graph->nodes()[1].operation, "host");
  EXPECT_THAT(graph->nodes()[1].after, ElementsAre(0));
  for (int replay = 1; replay <= 3; ++replay) {
    graph->replay();
    EXPECT_EQ(function_runs, replay);
    EXPECT_EQ(seen, 2 * replay - 1) << "in the order of the stream";
  }
  EXPECT_EQ(code_runs, 1);
  sim::launch_host_function(look);
  EXPECT_EQ(function_runs, 4) << "outside a capture as well";
}

TEST_F(RulesOfValues, rule_39_a_host_function_must_not_call_the_runtime) {
  at::Tensor x = at::zeros({1}, on_device());
  std::vector<int> codes;
  auto graph = capture([&] {
    sim::launch_host_function([&] {
      codes.push_back(code_of([&] { x.add_(1); }));
      codes.push_back(code_of([&] { x.item(); }));
      codes.push_back(code_of([&] { sim::synchronize_device(); }));
      codes.push_back(code_of([&] { sim::pinned_empty({1}, at::kFloat); }));
    });
  });
  graph->replay();
  EXPECT_THAT(codes, ElementsAre(800, 800, 800, 800));
  x.add_(1);
  EXPECT_EQ(values(x)[0], 1) << "the device is as good as before";
}

TEST_F(RulesOfValues,
       rule_39_a_graph_that_overwrites_what_it_read_differs_from_its_second_replay_on) {
  at::Tensor pinned = sim::pinned_empty({1}, at::kFloat);
  pinned.fill_(1);
  at::Tensor x = at::zeros({1}, on_device());
  auto graph = capture([&] {
    x.copy_(pinned, /*non_blocking=*/true);
    x.mul_(3);
    pinned.copy_(x, /*non_blocking=*/true);
  });
  std::vector<float> results;
  for (int replay = 0; replay < 3; ++replay) {
    graph->replay();
    device_.synchronize();
    results.push_back(pinned.item<float>());
  }
  EXPECT_THAT(results, ElementsAre(3, 9, 27));
}

}  // namespace
}  // namespace thaw::test
