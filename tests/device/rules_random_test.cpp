// SPDX-License-Identifier: Apache-2.0
//
// Random numbers: rules 23 and 55 to 58.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/ops/bernoulli.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/native_dropout.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include <c10/core/Event.h>

#include "device/sim/capture.h"
#include "device/sim/context.h"
#include "device/sim/random.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class RulesOfRandomNumbers : public DeviceTest {
 protected:
  std::vector<std::byte> bytes_of(const at::Tensor& tensor) {
    return bytes(device_, tensor.contiguous());
  }

  struct Operator {
    std::string name;
    std::function<at::Tensor()> draw;
  };

  /// Everything that draws, by another route through LibTorch each.
  std::vector<Operator> operators() {
    const at::Tensor x = at::ones({6, 8}, on_device());
    const at::Tensor heads = at::ones({1, 2, 4, 8}, on_device());
    return {
        {"rand", [] { return at::rand({7}, on_device()); }},
        {"rand of doubles", [] { return at::rand({7}, on_device(at::kDouble)); }},
        {"rand of halves", [] { return at::rand({7}, on_device(at::kHalf)); }},
        {"randn", [] { return at::randn({33}, on_device()); }},
        {"randint", [] { return at::randint(100, {9}, on_device(at::kLong)); }},
        {"randperm", [] { return at::randperm(50, on_device(at::kLong)); }},
        {"uniform_", [x] { return x.clone().uniform_(-2, 3); }},
        {"normal_", [x] { return x.clone().normal_(1, 2); }},
        {"bernoulli_", [x] { return x.clone().bernoulli_(0.5); }},
        {"bernoulli", [x] { return at::bernoulli(x * 0.5); }},
        {"exponential_", [x] { return x.clone().exponential_(); }},
        {"multinomial", [x] { return at::multinomial(x, 20, /*replacement=*/true); }},
        {"dropout", [x] { return at::dropout(x, 0.5, /*train=*/true); }},
        {"native_dropout", [x] { return std::get<0>(at::native_dropout(x, 0.5, true)); }},
        {"attention with dropout",
         [heads] { return at::scaled_dot_product_attention(heads, heads, heads, {}, 0.5); }},
    };
  }
};

TEST_F(RulesOfRandomNumbers, rule_56_a_capture_consumes_nothing) {
  device_.set_generator({5, 16});
  for (const Operator& op : operators()) {
    auto graph = capture([&] { op.draw(); });
    EXPECT_EQ(device_.generator(), (GeneratorState{5, 16})) << op.name;
    graph->replay();
    EXPECT_NE(device_.generator(), (GeneratorState{5, 16})) << op.name;
    device_.set_generator({5, 16});
  }
}

TEST_F(RulesOfRandomNumbers, rule_56_each_replay_draws_anew_and_bits_and_offset_equal_eager) {
  for (const Operator& op : operators()) {
    std::vector<std::vector<std::byte>> eager, replayed;
    device_.set_generator({7, 0});
    for (int run = 0; run < 3; ++run) eager.push_back(bytes_of(op.draw()));
    const GeneratorState after = device_.generator();

    at::Tensor drawn;
    auto graph = capture([&] { drawn = op.draw(); });
    device_.set_generator({7, 0});
    for (int run = 0; run < 3; ++run) {
      graph->replay();
      replayed.push_back(bytes_of(drawn));
    }
    EXPECT_EQ(replayed, eager) << op.name;
    EXPECT_EQ(device_.generator(), after) << op.name;
    EXPECT_NE(eager[0], eager[1]) << op.name;
    EXPECT_NE(eager[1], eager[2]) << op.name;
    EXPECT_NE(eager[0], eager[2]) << op.name;
  }
}

TEST_F(RulesOfRandomNumbers, rule_56_replays_and_eager_work_take_turns_at_one_generator) {
  const auto draw = [] { return at::rand({5}, on_device()); };
  device_.set_generator({1, 0});
  std::vector<std::vector<float>> eager;
  for (int run = 0; run < 4; ++run) eager.push_back(values(draw()));

  at::Tensor first, second;
  auto graph = capture([&] {
    first = draw();
    second = draw();
  });
  device_.set_generator({1, 0});
  EXPECT_EQ(values(draw()), eager[0]);
  graph->replay();
  EXPECT_EQ(values(first), eager[1]);
  EXPECT_EQ(values(second), eager[2]);
  EXPECT_EQ(values(draw()), eager[3]);
}

TEST_F(RulesOfRandomNumbers, rule_55_a_node_draws_at_its_own_offset_in_whatever_order_nodes_run) {
  at::Tensor first = at::zeros({5}, on_device()), second = at::zeros({5}, on_device());
  const c10::Stream origin = sim::new_stream(), side = sim::new_stream();
  std::unique_ptr<Graph> graph;
  {
    c10::StreamGuard guard(origin);
    sim::Capture capture;
    c10::Event fork(sim::device_type), join(sim::device_type);
    fork.record(origin);
    fork.block(side);
    first.uniform_();
    {
      c10::StreamGuard on_side(side);
      second.uniform_();
      join.record(side);
    }
    join.block(origin);
    graph = capture.end();
  }
  device_.set_generator({3, 0});
  graph->replay();
  const auto expected = std::pair(values(first), values(second));
  EXPECT_NE(expected.first, expected.second);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    device_.set_generator({3, 0});
    graph->replay(seed);
    EXPECT_EQ(std::pair(values(first), values(second)), expected);
  }
}

TEST_F(RulesOfRandomNumbers, rule_55_the_seed_is_that_of_the_replay) {
  at::Tensor drawn;
  auto graph = capture([&] { drawn = at::rand({5}, on_device()); });
  device_.set_generator({11, 0});
  const auto expected = values(at::rand({5}, on_device()));
  device_.set_generator({12, 0});
  graph->replay();
  EXPECT_NE(values(drawn), expected);
  device_.set_generator({11, 0});
  graph->replay();
  EXPECT_EQ(values(drawn), expected);
}

TEST_F(RulesOfRandomNumbers, rule_57_a_generator_of_ones_own_needs_no_registration) {
  at::Generator own =
      at::globalContext().getAcceleratorHooksInterface(sim::device_type).getNewGenerator();
  own.set_current_seed(21);
  const auto expected = values(at::rand({5}, own, on_device()));
  at::Tensor drawn;
  auto graph = capture([&] { drawn = at::rand({5}, own, on_device()); });
  EXPECT_EQ(own.get_offset(), 4u);
  own.set_current_seed(21);
  graph->replay();
  EXPECT_EQ(values(drawn), expected);
  EXPECT_EQ(device_.generator(), GeneratorState{}) << "the device's own drew nothing";
}

TEST_F(RulesOfRandomNumbers, rule_58_offsets_move_by_four_for_each_number_that_a_thread_draws) {
  const uint64_t grid = 132 * 2048;
  const std::pair<int64_t, uint64_t> cases[] = {
      {0, 0}, {1, 4}, {257, 4}, {grid * 4, 4}, {grid * 4 + 1, 8}};
  for (const auto& [elements, moved] : cases) {
    EXPECT_EQ(sim::offset_increment(elements, at::kFloat), moved) << elements;
  }
  EXPECT_EQ(sim::offset_increment(grid * 2 + 1, at::kDouble), 8u)
      << "two numbers of 64 bits a call";

  device_.set_generator({9, 0});
  at::rand({3}, on_device());
  at::randn({100}, on_device());
  at::rand({0}, on_device());
  at::dropout(at::ones({3}, on_device()), 0.5, /*train=*/false);
  EXPECT_EQ(device_.generator(), (GeneratorState{9, 8}));
}

/// The slow twin: Philox (four rounds' worth of 32-bit numbers per call) of LibTorch's own engine.
TEST_F(RulesOfRandomNumbers, rule_58_uniform_draws_are_philox_by_seed_offset_and_element) {
  device_.set_generator({77, 40});
  const auto drawn = values(at::rand({2, 300}, on_device()));
  for (uint64_t i = 0; i < drawn.size(); ++i) {
    at::Philox4_32 philox(77, /*subsequence=*/i, /*offset in groups of four=*/10);
    const float expected = (static_cast<float>(philox()) + 0.5f) / 4294967296.f;
    EXPECT_FLOAT_EQ(drawn[i], expected == 1 ? 0 : expected);
  }
}

TEST_F(RulesOfRandomNumbers, rule_58_draws_have_the_distribution_that_they_are_asked_for) {
  const int64_t count = 1 << 20;
  const at::Tensor uniform = at::rand({count}, on_device()).cpu();
  EXPECT_GE(uniform.min().item<float>(), 0);
  EXPECT_LT(uniform.max().item<float>(), 1);
  EXPECT_NEAR(uniform.mean().item<float>(), 0.5, 0.002);
  EXPECT_NEAR(uniform.var().item<float>(), 1 / 12., 0.001);
  const at::Tensor ranged = at::empty({count}, on_device(at::kDouble)).uniform_(-2, 6).cpu();
  EXPECT_NEAR(ranged.mean().item<double>(), 2, 0.02);
  EXPECT_NEAR(ranged.var().item<double>(), 64 / 12., 0.05);
  const at::Tensor normal = at::randn({count}, on_device()).cpu();
  EXPECT_NEAR(normal.mean().item<float>(), 0, 0.005);
  EXPECT_NEAR(normal.var().item<float>(), 1, 0.01);
}

TEST_F(RulesOfRandomNumbers, rule_58_neighbouring_offsets_give_unrelated_numbers) {
  device_.set_generator({1, 0});
  const at::Tensor first = at::randn({4096}, on_device()).cpu();
  const at::Tensor second = at::randn({4096}, on_device()).cpu();
  for (int64_t shift = 0; shift < 8; ++shift) {
    const at::Tensor a = first.slice(0, shift), b = second.slice(0, 0, 4096 - shift);
    EXPECT_NEAR((a * b).mean().item<float>(), 0, 0.08) << shift;
  }
}

TEST_F(RulesOfRandomNumbers, rule_58_the_hosts_generator_is_left_alone) {
  const at::Generator host = at::detail::getDefaultCPUGenerator();
  const at::Tensor before = host.get_state();
  for (const Operator& op : operators()) op.draw();
  EXPECT_TRUE(before.equal(host.get_state()));
}

TEST_F(RulesOfRandomNumbers, rule_23_seeds_and_states_are_refused_in_a_capture_that_stays_valid) {
  at::Tensor x = at::zeros({3}, on_device());
  at::Generator generator = device_.context().generator();
  const at::Tensor state = generator.get_state();
  auto graph = capture([&] {
    x.add_(1);
    EXPECT_THROW(generator.set_current_seed(1), c10::Error);
    EXPECT_THROW(generator.seed(), c10::Error);
    EXPECT_THROW(generator.current_seed(), c10::Error);
    EXPECT_THROW(generator.set_offset(4), c10::Error);
    EXPECT_THROW(generator.get_offset(), c10::Error);
    EXPECT_THROW(generator.get_state(), c10::Error);
    EXPECT_THROW(generator.set_state(state), c10::Error);
    EXPECT_THROW(device_.set_generator({1, 0}), c10::Error);
  });
  EXPECT_EQ(graph->node_count(), 1u);
  EXPECT_EQ(device_.generator(), GeneratorState{});
}

TEST_F(RulesOfRandomNumbers, a_generators_state_can_be_set_and_read_back) {
  EXPECT_EQ(device_.generator(), (GeneratorState{67280421310721, 0}));
  device_.set_generator({~uint64_t{0}, 1024});
  EXPECT_EQ(device_.generator(), (GeneratorState{~uint64_t{0}, 1024}));
  EXPECT_THROW(device_.set_generator({1, 6}), std::invalid_argument);

  at::Generator generator = device_.context().generator();
  const at::Tensor state = generator.get_state();
  at::Generator copy = generator.clone();
  EXPECT_EQ(copy.get_offset(), 1024u);
  copy.set_offset(8);
  EXPECT_EQ(device_.generator().offset, 1024u) << "a clone is on its own";
  generator.set_current_seed(3);
  EXPECT_EQ(device_.generator(), (GeneratorState{3, 0})) << "a new seed starts anew";
  generator.set_state(state);
  EXPECT_EQ(device_.generator(), (GeneratorState{~uint64_t{0}, 1024}));
  EXPECT_THROW(generator.set_state(at::zeros({8}, at::kByte)), c10::Error);
  EXPECT_NE(generator.seed(), 3u);
}

TEST_F(RulesOfRandomNumbers, a_generator_of_the_host_is_refused) {
  const at::Generator host = at::detail::createCPUGenerator();
  EXPECT_THROW(at::rand({3}, host, on_device()), c10::Error);
  EXPECT_THROW(capture([&] { at::rand({3}, host, on_device()); }), c10::Error);
}

TEST_F(RulesOfRandomNumbers, a_tensor_with_gaps_draws_like_one_without) {
  device_.set_generator({4, 0});
  const auto expected = values(at::rand({3, 5}, on_device()));
  at::Tensor gaps = at::zeros({5, 6}, on_device());
  device_.set_generator({4, 0});
  gaps.t().slice(0, 0, 3).uniform_();
  EXPECT_EQ(values(gaps.t().slice(0, 0, 3)), expected);
  EXPECT_THAT(values(gaps.slice(1, 3)), Each(0));
}

}  // namespace
}  // namespace thaw::test
