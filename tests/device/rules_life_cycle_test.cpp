// SPDX-License-Identifier: Apache-2.0
//
// The life cycle of a capture: rules 1 to 9, 12, 14, 26 and 40.
#include <ATen/ops/add.h>
#include <c10/core/Event.h>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class RulesOfTheLifeCycle : public DeviceTest {};

TEST_F(RulesOfTheLifeCycle, rule_1_a_capture_records_and_does_not_run) {
  at::Tensor x = at::arange(4, on_device());
  at::Tensor sum, index;
  auto graph = capture([&] {
    x.mul_(2);
    sum = x + 1;
    index = sum.to(at::kLong);
  });
  EXPECT_THAT(values(x), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(all_bytes_are(device_, sum, 0xFF)) << "fresh memory of the pool";
  EXPECT_THAT(values<int64_t>(index), Each(-1));

  graph->replay();
  EXPECT_THAT(values(x), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(values(sum), ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(values<int64_t>(index), ElementsAre(1, 3, 5, 7));
  graph->replay();
  EXPECT_THAT(values(x), ElementsAre(0, 4, 8, 12));
}

TEST_F(RulesOfTheLifeCycle, rule_1_an_output_keeps_the_bytes_that_its_memory_had) {
  at::Tensor x = at::ones({4}, on_device());
  at::Tensor output = at::full({4}, 5, on_device());
  auto graph = capture([&] { at::add_out(output, x, x); });
  EXPECT_THAT(values(output), Each(5));
  graph->replay();
  EXPECT_THAT(values(output), Each(2));
}

TEST_F(RulesOfTheLifeCycle, rule_2_the_default_stream_cannot_be_captured) {
  EXPECT_THROW(sim::Capture(), std::logic_error);
  EXPECT_FALSE(sim::stream_is_capturing());

  c10::StreamGuard guard(sim::new_stream());
  sim::Capture on_a_side_stream;
  EXPECT_TRUE(sim::stream_is_capturing());
  EXPECT_NE(on_a_side_stream.end(), nullptr);
}

TEST_F(RulesOfTheLifeCycle, rule_2_a_stream_that_captures_already_cannot_be_captured) {
  at::Tensor x = at::ones({2}, on_device());
  c10::StreamGuard guard(sim::new_stream());
  sim::Capture first;
  x.add_(1);
  EXPECT_EQ(code_of([] { sim::Capture second; }), 900);
  {
    c10::StreamGuard other_stream(sim::new_stream());
    sim::Capture second;
    EXPECT_EQ(code_of([&] { second.end(); }), 0);
  }
}

TEST_F(RulesOfTheLifeCycle, rule_3_a_capture_ends_on_the_stream_where_it_began) {
  at::Tensor x = at::ones({2}, on_device());
  const c10::Stream default_stream(c10::Stream::DEFAULT, device_.torch_device());
  for (const c10::Stream& elsewhere : {sim::new_stream(), default_stream}) {
    c10::StreamGuard guard(sim::new_stream());
    sim::Capture capture;
    x.add_(1);
    {
      c10::StreamGuard other_stream(elsewhere);
      EXPECT_EQ(code_of([&] { capture.end(); }), 903);
    }
    EXPECT_EQ(code_of([&] { capture.end(); }), 901) << "an illegal call like others (rule 7)";
    EXPECT_FALSE(sim::stream_is_capturing());
  }
  c10::StreamGuard guard(sim::new_stream());
  sim::Capture capture;
  x.add_(1);
  std::unique_ptr<Graph> graph;
  EXPECT_EQ(code_of([&] { graph = capture.end(); }), 0) << "where it began";
  graph->replay();
  EXPECT_THAT(values(x), Each(2));
}

TEST_F(RulesOfTheLifeCycle, rule_4_a_capture_ends_on_the_thread_where_it_began_unless_relaxed) {
  using sim::CaptureMode;
  for (CaptureMode mode : {CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed}) {
    at::Tensor x = at::ones({2}, on_device());
    const c10::Stream stream = sim::new_stream();
    c10::StreamGuard guard(stream);
    sim::Capture capture(mode);
    x.add_(1);
    std::unique_ptr<Graph> graph;
    const int code = code_on_another_thread([&] {
      c10::StreamGuard same_stream(stream);
      graph = capture.end();
    });
    if (mode == CaptureMode::relaxed) {
      EXPECT_EQ(code, 0);
    } else {
      EXPECT_EQ(code, 908);
      EXPECT_EQ(code_of([&] { graph = capture.end(); }), 0) << "the thread where it began";
    }
    ASSERT_NE(graph, nullptr);
    graph->replay();
    EXPECT_THAT(values(x), Each(2));
  }
}

TEST_F(RulesOfTheLifeCycle, rule_5_all_streams_of_a_capture_leave_capture_mode_with_it) {
  const at::Tensor x = at::ones({2}, on_device());
  const c10::Stream origin = sim::new_stream(), side = sim::new_stream();
  c10::StreamGuard guard(origin);
  sim::Capture capture;
  c10::Event fork(sim::device_type), join(sim::device_type);
  fork.record(origin);
  fork.block(side);
  {
    c10::StreamGuard on_side(side);
    EXPECT_TRUE(sim::stream_is_capturing());
    x.add_(1);
    join.record(side);
  }
  join.block(origin);
  auto graph = capture.end();

  EXPECT_FALSE(sim::stream_is_capturing());
  c10::StreamGuard on_side(side);
  EXPECT_FALSE(sim::stream_is_capturing());
  x.add_(10);
  EXPECT_THAT(values(x), Each(11)) << "runs at once: eager again";
}

TEST_F(RulesOfTheLifeCycle, rule_6_what_follows_a_capture_follows_what_came_before_it) {
  at::Tensor x = at::ones({2}, on_device());
  c10::StreamGuard guard(sim::new_stream());
  x.fill_(5);
  sim::Capture capture;
  x.mul_(100);
  auto graph = capture.end();
  x.add_(1);
  EXPECT_THAT(values(x), Each(6)) << "the captured product is no part of the stream's order";
  graph->replay();
  EXPECT_THAT(values(x), Each(600));
}

TEST_F(RulesOfTheLifeCycle, rule_7_the_first_illegal_call_tells_why_and_all_later_ones_are_901) {
  at::Tensor x = at::ones({1}, on_device());
  at::Tensor y = at::ones({1}, on_device());
  const c10::Stream stream = sim::new_stream();
  {
    c10::StreamGuard guard(stream);
    sim::Capture capture;
    x.add_(1);
    EXPECT_FALSE(capture.invalidated());
    EXPECT_EQ(code_of([&] { x.item(); }), 900);
    EXPECT_TRUE(capture.invalidated());
    EXPECT_EQ(code_of([&] { x.item(); }), 901) << "the same call again";
    EXPECT_EQ(code_of([&] { y.add_(1); }), 901) << "a call that was legal";
    EXPECT_EQ(code_of([&] { c10::Event(sim::device_type).record(stream); }), 901);
    EXPECT_EQ(code_of([&] { capture.end(); }), 901);
    EXPECT_FALSE(sim::stream_is_capturing()) << "the failing end takes the stream out";
    y.add_(1);
  }
  EXPECT_EQ(values(x)[0], 1);
  EXPECT_EQ(values(y)[0], 2) << "the device is as good as before";
  auto graph = capture([&] { x.add_(1); });
  graph->replay();
  EXPECT_EQ(values(x)[0], 2);
}

TEST_F(RulesOfTheLifeCycle, rule_7_another_stream_of_the_capture_is_invalidated_with_it) {
  at::Tensor x = at::ones({1}, on_device());
  const c10::Stream origin = sim::new_stream(), side = sim::new_stream();
  const c10::Stream uninvolved = sim::new_stream();
  c10::StreamGuard guard(origin);
  sim::Capture capture;
  c10::Event fork(sim::device_type);
  fork.record(origin);
  fork.block(side);
  EXPECT_EQ(code_of([&] { x.item(); }), 900);
  {
    c10::StreamGuard on_side(side);
    EXPECT_EQ(code_of([&] { x.add_(1); }), 901);
  }
  EXPECT_EQ(code_of([&] { fork.block(uninvolved); }), 901) << "its events as well";
  {
    c10::StreamGuard elsewhere(uninvolved);
    EXPECT_EQ(code_of([&] { x.add_(1); }), 0);
  }
  EXPECT_EQ(code_of([&] { capture.end(); }), 901);
  EXPECT_EQ(values(x)[0], 2);
}

TEST_F(RulesOfTheLifeCycle, rule_7_device_capture_reports_the_refusal_and_leaves_nothing_behind) {
  at::Tensor x = at::ones({1}, on_device());
  EXPECT_EQ(code_of([&] { capture([&] { x.item(); }); }), 900);
  EXPECT_FALSE(sim::stream_is_capturing());
  const auto swallow_the_refusal = [&] { code_of([&] { x.item(); }); };
  EXPECT_EQ(code_of([&] { capture(swallow_the_refusal); }), 901);
  EXPECT_EQ(code_of([&] { capture([&] { x.add_(1); }); }), 0);
}

TEST_F(RulesOfTheLifeCycle, rule_8_an_error_of_the_host_leaves_the_capture_valid) {
  at::Tensor x = at::ones({2, 3}, on_device());
  const at::Tensor pageable = at::ones({2, 3});
  auto graph = capture([&] {
    x.add_(1);
    EXPECT_THROW(x.mm(x), c10::Error) << "a shape error";
    EXPECT_THROW(x.add_(pageable), c10::Error) << "a tensor of another device";
    EXPECT_THROW(x.copy_(pageable), c10::Error) << "host memory that is not pinned";
    x.mul_(10);
  });
  EXPECT_EQ(graph->node_count(), 2u);
  graph->replay();
  EXPECT_THAT(values(x), Each(20));
}

TEST_F(RulesOfTheLifeCycle, rule_8_what_the_step_throws_passes_through_and_ends_the_capture) {
  at::Tensor x = at::ones({2, 3}, on_device());
  EXPECT_THROW(capture([&] { x.mm(x); }), c10::Error);
  EXPECT_THROW(capture([&] { throw std::domain_error("of the step"); }), std::domain_error);
  EXPECT_FALSE(sim::stream_is_capturing());
  x.add_(1);
  EXPECT_THAT(values(x), Each(2));
}

TEST_F(RulesOfTheLifeCycle, rule_12_an_empty_graph_is_legal_and_has_no_nodes) {
  at::Tensor x = at::ones({2}, on_device());
  auto empty = capture([] {});
  EXPECT_EQ(empty->node_count(), 0u);
  EXPECT_TRUE(empty->nodes().empty());
  EXPECT_TRUE(empty->memory().empty());
  EXPECT_EQ(code_of([&] { empty->replay(); }), 0);
  EXPECT_THAT(values(x), Each(1));

  auto views_only = capture([&] { x.view({2, 1}).t(); });
  EXPECT_EQ(views_only->node_count(), 0u) << "a view enqueues nothing";
  auto one = capture([&] { x.add_(1); });
  EXPECT_EQ(one->node_count(), 1u);
}

TEST_F(RulesOfTheLifeCycle, rule_12_what_goes_to_another_stream_is_not_captured) {
  at::Tensor x = at::ones({2}, on_device());
  const c10::Stream elsewhere = sim::new_stream();
  auto graph = capture([&] {
    c10::StreamGuard guard(elsewhere);
    x.add_(1);
  });
  EXPECT_EQ(graph->node_count(), 0u);
  EXPECT_THAT(values(x), Each(2)) << "it ran";
}

TEST_F(RulesOfTheLifeCycle, rule_9_a_streams_status_can_be_asked_for_in_a_capture) {
  at::Tensor x = at::ones({2}, on_device());
  EXPECT_FALSE(sim::stream_is_capturing());
  auto graph = capture([&] {
    EXPECT_TRUE(sim::stream_is_capturing());
    x.add_(1);
  });
  EXPECT_EQ(graph->node_count(), 1u) << "asking is legal";
}

TEST_F(RulesOfTheLifeCycle, rule_9_the_legacy_streams_status_beside_a_blocking_capture_is_906) {
  c10::StreamGuard guard(sim::new_blocking_stream());
  sim::Capture capture;
  {
    c10::StreamGuard on_default(c10::Stream(c10::Stream::DEFAULT, device_.torch_device()));
    EXPECT_EQ(code_of([] { sim::stream_is_capturing(); }), 906);
  }
  EXPECT_EQ(code_of([&] { capture.end(); }), 0) << "and invalidates nothing";
}

/// Ways for a capture to fail.
const std::function<void(SimDevice&, at::Tensor)> failures[] = {
    [](SimDevice& device, at::Tensor x) { device.capture([&] { x.item(); }); },
    [](SimDevice& device, at::Tensor x) { device.capture([&] { throw DeviceError(2, "armed"); }); },
    [](SimDevice&, at::Tensor x) {
      const c10::Stream origin = sim::new_stream(), side = sim::new_stream();
      c10::StreamGuard guard(origin);
      sim::Capture capture;
      c10::Event fork(sim::device_type);
      fork.record(origin);
      fork.block(side);
      c10::StreamGuard on_side(side);
      x.add_(1);
      c10::StreamGuard on_origin(origin);
      capture.end();  // unjoined
    }};

TEST_F(RulesOfTheLifeCycle, rule_14_a_strict_device_cannot_capture_after_a_failed_capture) {
  for (const auto& fail : failures) {
    SimDevice strict({.strict_captures = true});
    at::Tensor x = at::ones({1}, on_device());
    EXPECT_EQ(code_of([&] { strict.capture([&] { x.add_(1); }); }), 0);
    EXPECT_NE(code_of([&] { fail(strict, x); }), 0);
    EXPECT_EQ(code_of([&] { strict.capture([&] { x.add_(1); }); }), 901);
    EXPECT_FALSE(sim::stream_is_capturing());
    x.add_(1);
    EXPECT_EQ(values(x)[0], 2) << "eager work goes on";
    x.reset();
    strict.reset();
    x = at::ones({1}, on_device());
    EXPECT_EQ(code_of([&] { strict.capture([&] { x.add_(1); }); }), 0);
  }
}

TEST_F(RulesOfTheLifeCycle, rule_14_other_devices_of_a_strict_ones_process_cannot_capture_either) {
  SimDevice strict({.strict_captures = true});
  at::Tensor x = at::ones({1}, on_device());
  EXPECT_EQ(code_of([&] { strict.capture([&] { x.item(); }); }), 900);
  SimDevice other({.process = strict.context().process()});
  EXPECT_EQ(code_of([&] { other.capture([] {}); }), 901);
  EXPECT_EQ(code_of([&] { device_.capture([] {}); }), 0) << "a process of its own";
}

TEST_F(RulesOfTheLifeCycle, rule_14_without_strictness_a_failed_capture_leaves_no_trace) {
  for (const auto& fail : failures) {
    at::Tensor x = at::ones({1}, on_device());
    EXPECT_NE(code_of([&] { fail(device_, x); }), 0);
    EXPECT_EQ(code_of([&] { capture([&] { x.add_(1); }); }), 0);
  }
}

TEST_F(RulesOfTheLifeCycle, rule_26_tensors_can_be_made_in_a_capture_of_any_mode) {
  using sim::CaptureMode;
  for (CaptureMode mode : {CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed}) {
    at::Tensor made;
    c10::StreamGuard guard(sim::new_stream());
    sim::Capture capture(mode);
    EXPECT_EQ(code_of([&] { made = at::full({1000}, 3, on_device()); }), 0);
    auto graph = capture.end();
    graph->replay();
    EXPECT_THAT(values(made), Each(3));
  }
}

TEST_F(RulesOfTheLifeCycle, rule_40_a_warm_up_moves_state_and_a_capture_does_not) {
  at::Tensor position = at::zeros({1}, on_device(at::kLong));
  const auto step = [&] { position.add_(1); };
  {
    c10::StreamGuard guard(sim::new_stream());
    for (int warm_up = 0; warm_up < 3; ++warm_up) step();
  }
  auto graph = capture(step);
  EXPECT_EQ(values<int64_t>(position)[0], 3);
  graph->replay();
  EXPECT_EQ(values<int64_t>(position)[0], 4);
}

}  // namespace
}  // namespace thaw::test
