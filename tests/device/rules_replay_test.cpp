// SPDX-License-Identifier: Apache-2.0
//
// Replay and introspection: rules 50, 51 and 64.
#include <algorithm>

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
