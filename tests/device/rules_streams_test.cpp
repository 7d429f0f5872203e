// SPDX-License-Identifier: Apache-2.0
//
// Captures of several streams: rules 27 to 32.
#include <ATen/ops/add.h>
#include <ATen/ops/mul.h>
#include <c10/core/Event.h>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class RulesOfStreams : public DeviceTest {
 protected:
  static c10::Event event() { return c10::Event(sim::device_type); }

  const at::Tensor x_ = at::ones({2}, on_device());
  at::Tensor y_ = at::zeros({2}, on_device());
  at::Tensor z_ = at::zeros({2}, on_device());
  const c10::Stream origin_ = sim::new_stream();
  const c10::Stream side_ = sim::new_stream();
};

TEST_F(RulesOfStreams, rule_27_an_event_stands_for_the_nodes_before_it) {
  c10::StreamGuard guard(origin_);
  sim::Capture capture;
  y_.add_(1);  // node 0
  c10::Event fork = event(), join = event();
  fork.record(origin_);
  y_.add_(2);  // node 1: after the event
  fork.block(side_);
  {
    c10::StreamGuard on_side(side_);
    z_.add_(3);  // node 2
    join.record(side_);
  }
  join.block(origin_);
  const auto nodes = capture.end()->nodes();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_THAT(nodes[0].after, IsEmpty());
  EXPECT_THAT(nodes[1].after, ElementsAre(0));
  EXPECT_THAT(nodes[2].after, ElementsAre(0)) << "not node 1, which the event does not contain";
}

TEST_F(RulesOfStreams, rule_27_recording_an_event_again_overwrites_it) {
  c10::StreamGuard guard(origin_);
  sim::Capture capture;
  y_.add_(1);
  c10::Event fork = event(), join = event();
  fork.record(origin_);
  y_.add_(2);
  fork.record(origin_);
  fork.block(side_);
  {
    c10::StreamGuard on_side(side_);
    z_.add_(3);
    join.record(side_);
  }
  join.block(origin_);
  const auto nodes = capture.end()->nodes();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_THAT(nodes[2].after, ElementsAre(1));
}

TEST_F(RulesOfStreams, rule_28_a_stream_that_waits_on_a_captured_event_joins_the_capture) {
  c10::StreamGuard guard(origin_);
  sim::Capture capture;
  c10::Event fork = event(), join = event();
  {
    c10::StreamGuard on_side(side_);
    EXPECT_FALSE(sim::stream_is_capturing());
  }
  y_.add_(1);  // node 0
  fork.record(origin_);
  fork.block(side_);
  {
    c10::StreamGuard on_side(side_);
    EXPECT_TRUE(sim::stream_is_capturing());
    z_.add_(10);  // node 1
    join.record(side_);
  }
  y_.add_(1);  // node 2
  join.block(origin_);
  y_.add_(z_);  // node 3
  auto graph = capture.end();

  EXPECT_THAT(values(z_), Each(0)) << "recorded, not run";
  const auto nodes = graph->nodes();
  ASSERT_EQ(nodes.size(), 4u);
  EXPECT_THAT(nodes[1].after, ElementsAre(0));
  EXPECT_THAT(nodes[2].after, ElementsAre(0));
  EXPECT_THAT(nodes[3].after, UnorderedElementsAre(1, 2));
  graph->replay();
  EXPECT_THAT(values(y_), Each(12));
}

TEST_F(RulesOfStreams, rule_29_waiting_on_an_event_of_another_capture_is_refused_with_902) {
  c10::StreamGuard guard(origin_);
  sim::Capture first;
  c10::Event of_the_first = event();
  of_the_first.record(origin_);
  y_.add_(1);
  {
    c10::StreamGuard on_side(side_);
    sim::Capture second;
    c10::Event of_the_second = event();
    of_the_second.record(side_);
    EXPECT_EQ(code_of([&] { of_the_second.block(side_); }), 0) << "an event of its own";
    EXPECT_EQ(code_of([&] { of_the_first.block(side_); }), 902);
    EXPECT_EQ(code_of([&] { second.end(); }), 901);
  }
  EXPECT_EQ(code_of([&] { first.end(); }), 0) << "only the stream that waited is at fault";
}

TEST_F(RulesOfStreams, rule_30_a_capturing_stream_cannot_wait_on_an_event_from_outside) {
  c10::Event outside = event();
  outside.record(side_);
  {
    c10::StreamGuard guard(origin_);
    sim::Capture capture;
    y_.add_(1);
    EXPECT_EQ(code_of([&] { outside.block(origin_); }), 905);
    EXPECT_EQ(code_of([&] { capture.end(); }), 901);
  }
  EXPECT_EQ(code_of([&] { outside.block(origin_); }), 0) << "outside a capture";
  c10::StreamGuard guard(origin_);
  sim::Capture capture;
  c10::Event inside = event();
  inside.record(origin_);
  EXPECT_EQ(code_of([&] { inside.block(origin_); }), 0);
  EXPECT_EQ(code_of([&] { capture.end(); }), 0);
}

TEST_F(RulesOfStreams, rule_31_unjoined_work_is_refused_with_904) {
  for (const bool join_back : {false, true}) {
    c10::StreamGuard guard(origin_);
    sim::Capture capture;
    c10::Event fork = event(), join = event();
    y_.add_(1);
    fork.record(origin_);
    fork.block(side_);
    {
      c10::StreamGuard on_side(side_);
      z_.add_(1);
      join.record(side_);
    }
    if (join_back) join.block(origin_);
    EXPECT_EQ(code_of([&] { capture.end(); }), join_back ? 0 : 904);
    EXPECT_FALSE(sim::stream_is_capturing());
    c10::StreamGuard on_side(side_);
    EXPECT_FALSE(sim::stream_is_capturing()) << "either way the capture is over";
  }
}

TEST_F(RulesOfStreams, rule_31_work_after_the_join_is_unjoined) {
  c10::StreamGuard guard(origin_);
  sim::Capture capture;
  c10::Event fork = event(), join = event();
  fork.record(origin_);
  fork.block(side_);
  {
    c10::StreamGuard on_side(side_);
    y_.add_(1);
    join.record(side_);
    z_.add_(1);
  }
  join.block(origin_);
  EXPECT_EQ(code_of([&] { capture.end(); }), 904);
}

TEST_F(RulesOfStreams, rule_31_a_stream_may_be_joined_through_another) {
  const c10::Stream third = sim::new_stream();
  c10::StreamGuard guard(origin_);
  sim::Capture capture;
  c10::Event fork = event(), on = event(), join = event();
  fork.record(origin_);
  fork.block(side_);
  {
    c10::StreamGuard on_side(side_);
    y_.add_(1);
    on.record(side_);
  }
  on.block(third);
  {
    c10::StreamGuard on_third(third);
    z_.add_(y_);
    join.record(third);
  }
  join.block(origin_);
  std::unique_ptr<Graph> graph;
  ASSERT_EQ(code_of([&] { graph = capture.end(); }), 0);
  graph->replay();
  EXPECT_THAT(values(z_), Each(1));
}

/// A side stream computes 100 x; the origin reads it, before or after it waits for it.
class RulesOfStreamOrder : public RulesOfStreams {
 protected:
  std::unique_ptr<Graph> capture_a_read(bool before_waiting) {
    c10::StreamGuard guard(origin_);
    sim::Capture capture;
    c10::Event fork = event(), join = event();
    fork.record(origin_);
    fork.block(side_);
    {
      c10::StreamGuard on_side(side_);
      at::mul_out(y_, x_, at::full({}, 100, on_device()));
      join.record(side_);
    }
    if (!before_waiting) join.block(origin_);
    at::add_out(z_, y_, x_);
    if (before_waiting) join.block(origin_);
    return capture.end();
  }

  int wrong_replays(Graph& graph) {
    int wrong = 0;
    for (uint64_t seed = 0; seed < 16; ++seed) {
      y_.fill_(-5);
      graph.replay(seed);
      wrong += values(z_)[0] != 101;
    }
    return wrong;
  }
};

TEST_F(RulesOfStreamOrder, rule_32_only_edges_order_so_a_missing_wait_shows_in_another_order) {
  auto graph = capture_a_read(/*before_waiting=*/true);
  EXPECT_TRUE(device_.abilities().replay_orders);
  y_.fill_(-5);
  graph->replay();
  EXPECT_THAT(values(z_), Each(101)) << "the recorded order hides the bug";
  EXPECT_GT(wrong_replays(*graph), 0);
}

TEST_F(RulesOfStreamOrder, rule_32_with_the_wait_every_order_gives_the_same) {
  auto graph = capture_a_read(/*before_waiting=*/false);
  EXPECT_EQ(wrong_replays(*graph), 0);
}

TEST_F(RulesOfStreamOrder, rule_32_a_seed_always_draws_the_same_order) {
  auto graph = capture_a_read(/*before_waiting=*/true);
  const auto result = [&](uint64_t seed) {
    y_.fill_(-5);
    graph->replay(seed);
    return values(z_);
  };
  for (uint64_t seed = 0; seed < 16; ++seed) EXPECT_EQ(result(seed), result(seed));
}

TEST_F(RulesOfStreamOrder, rule_32_one_stream_keeps_its_order_under_every_seed) {
  auto graph = capture([&] {
    y_.add_(1);
    y_.mul_(2);
    y_.sub_(3);
  });
  for (uint64_t seed = 0; seed < 8; ++seed) {
    y_.fill_(10);
    graph->replay(seed);
    EXPECT_THAT(values(y_), Each(19));
  }
}

}  // namespace
}  // namespace thaw::test
