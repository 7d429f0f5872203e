// SPDX-License-Identifier: Apache-2.0
//
// Replay and introspection: rules 50 to 52, 54, 64 and 65.
#include <c10/core/Event.h>

#include <algorithm>
#include <map>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class RulesOfReplay : public DeviceTest {};

TEST_F(RulesOfReplay, rule_50_a_graph_never_overlaps_itself) {
  constexpr int replays = 500;
  at::Tensor count = at::zeros({1}, on_device(at::kLong));
  at::Tensor twin = at::zeros({1}, on_device(at::kLong));
  auto graph = capture([&] {
    count.add_(1);
    twin.copy_(count);
    count.add_(twin - count);  // changes nothing, unless another replay comes in between
  });
  const auto replay_often = [&] {
    for (int replay = 0; replay < replays; ++replay) graph->replay();
  };
  std::thread other(replay_often);
  replay_often();
  other.join();
  EXPECT_EQ(values<int64_t>(count)[0], 2 * replays);
}

TEST_F(RulesOfReplay, rule_51_a_replay_may_be_on_any_stream) {
  at::Tensor x = at::zeros({2}, on_device());
  const c10::Stream of_capture = sim::new_stream();
  std::unique_ptr<Graph> graph;
  {
    c10::StreamGuard guard(of_capture);
    sim::Capture capture;
    x.add_(1);
    graph = capture.end();
    graph->replay();
  }
  graph->replay();  // on the default stream
  {
    c10::StreamGuard guard(sim::new_stream());
    graph->replay();
  }
  std::thread([&] { graph->replay(); }).join();
  EXPECT_THAT(values(x), Each(4));
}

TEST_F(RulesOfReplay, rule_52_a_replay_in_a_capture_is_refused) {
  at::Tensor x = at::zeros({2}, on_device());
  auto graph = capture([&] { x.add_(1); });
  EXPECT_NE(code_of([&] { capture([&] { graph->replay(); }); }), 0);
  EXPECT_THAT(values(x), Each(0));
  graph->replay();
  EXPECT_THAT(values(x), Each(1));
}

/// A position past the end, in device memory: only work that runs can tell.
class RuleOfErrorsThatStay : public RulesOfReplay {
 protected:
  at::Tensor x_ = at::zeros({4}, on_device());
  at::Tensor position_ = at::full({1}, 9, on_device(at::kLong));
  at::Tensor one_ = at::ones({1}, on_device());
  at::Tensor pinned_ = sim::pinned_empty({4}, at::kFloat);
  c10::Event event_{sim::device_type};
  c10::Stream side_ = sim::new_stream();
  std::unique_ptr<Graph> harmless_ = capture([this] { x_.add_(1); });

  RuleOfErrorsThatStay() { event_.record(side_); }

  void expect_unusable() {
    const c10::Stream default_stream(c10::Stream::DEFAULT, device_.torch_device());
    const std::function<void()> calls[] = {
        [&] { x_.add_(1); },
        [&] { x_[0].item(); },
        [&] { x_.cpu(); },
        [&] { x_.copy_(pinned_, /*non_blocking=*/true); },
        [&] { harmless_->replay(); },
        [&] { device_.synchronize(); },
        [&] { default_stream.synchronize(); },
        [&] { side_.query(); },
        [&] { event_.synchronize(); },
        [&] { sim::pinned_empty({1}, at::kFloat); },
        [&] { sim::memset_async(x_, 0); },
        [&] { sim::launch_host_function([] {}); },
        [&] { capture([] {}); },
    };
    for (size_t i = 0; i < std::size(calls); ++i) EXPECT_EQ(code_of(calls[i]), 710) << "call " << i;
    EXPECT_TRUE(all_bytes_are(device_, x_, 0)) << "nothing ran, and memory can be looked at";
  }
};

TEST_F(RuleOfErrorsThatStay, rule_54_after_a_failed_replay_every_call_fails) {
  auto graph = capture([&] { x_.index_copy_(0, position_, one_); });
  EXPECT_EQ(code_of([&] { (graph->replay(), device_.synchronize()); }), 710);
  expect_unusable();
}

TEST_F(RuleOfErrorsThatStay, rule_54_after_failed_eager_work_every_call_fails) {
  EXPECT_EQ(code_of([&] { (x_.index_copy_(0, position_, one_), device_.synchronize()); }), 710);
  expect_unusable();
}

TEST_F(RuleOfErrorsThatStay, rule_54_the_error_is_told_again_with_what_failed) {
  EXPECT_EQ(code_of([&] { (x_.index_copy_(0, position_, one_), device_.synchronize()); }), 710);
  try {
    device_.synchronize();
    FAIL() << "the error did not stay";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("index_copy"));
    EXPECT_THAT(error.what(), HasSubstr("cudaDeviceSynchronize"));
  }
}

TEST_F(RuleOfErrorsThatStay, rule_54_other_devices_and_a_reset_one_are_of_use) {
  SimDevice failing;
  {
    at::Tensor x = at::zeros({4}, on_device());
    const at::Tensor position = at::full({1}, 9, on_device(at::kLong));
    const at::Tensor one = at::ones({1}, on_device());
    EXPECT_EQ(code_of([&] { (x.index_copy_(0, position, one), failing.synchronize()); }), 710);
    EXPECT_EQ(code_of([&] { device_.synchronize(); }), 0);
  }
  failing.reset();
  EXPECT_THAT(values(at::ones({2}, on_device()) + 1), Each(2));
}

TEST_F(RuleOfErrorsThatStay, rule_54_a_refusal_or_a_wrong_argument_does_not_stay) {
  EXPECT_EQ(code_of([&] { capture([&] { x_[0].item(); }); }), 900);
  EXPECT_THROW(x_.mm(x_), c10::Error);
  EXPECT_EQ(code_of([&] { at::empty({int64_t{1} << 40}, on_device()); }), 2);
  harmless_->replay();
  EXPECT_THAT(values(x_), Each(1));
}

TEST_F(RulesOfReplay, rule_65_nodes_can_be_counted_by_kind) {
  at::Tensor x = at::zeros({2}, on_device()), y = at::zeros({2}, on_device());
  auto graph = capture([&] {
    x.add_(1);
    y.copy_(x);
    sim::memset_async(x, 0);
    sim::launch_host_function([] {});
    y.add_(1);
  });
  std::map<std::string, int> kinds;
  for (const GraphNode& node : graph->nodes()) ++kinds[node.operation];
  EXPECT_EQ(kinds, (std::map<std::string, int>{
                       {"aten::add.out", 2}, {"memcpy", 1}, {"memset", 1}, {"host", 1}}));
}

TEST_F(RulesOfReplay, rule_64_the_dot_text_names_every_operation_and_every_edge) {
  at::Tensor x = at::zeros({2}, on_device());
  auto graph = capture([&] {
    x.fill_(1);
    x.relu_();
  });
  const std::string text = graph->dot();
  EXPECT_THAT(
      text, AllOf(HasSubstr("digraph"), HasSubstr("aten::fill_.Scalar"), HasSubstr("aten::relu_")));
  EXPECT_THAT(text, Not(HasSubstr("aten::neg")));
  const auto edges = [](const std::string& dot) {
    size_t count = 0;
    for (size_t at = dot.find("->"); at != std::string::npos; at = dot.find("->", at + 2)) ++count;
    return count;
  };
  EXPECT_EQ(edges(text), 1u);
  EXPECT_EQ(edges(capture([&] { x.add_(1); })->dot()), 0u);
}

TEST_F(RulesOfReplay, rule_64_the_dot_text_of_an_empty_graph_has_no_nodes) {
  const std::string text = capture([] {})->dot();
  EXPECT_THAT(text, AllOf(HasSubstr("digraph"), Not(HasSubstr("aten::"))));
}

}  // namespace
}  // namespace thaw::test
