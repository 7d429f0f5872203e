// SPDX-License-Identifier: Apache-2.0
//
// Work that runs later than it was enqueued: what goes wrong then goes wrong as on a GPU, and what
// a program orders stays right under every schedule.

#include <ATen/ops/add.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rand.h>
#include <c10/core/Event.h>

#include <array>
#include <random>

#include "device/sim/capture.h"
#include "device/sim/runtime.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::array schedules{Schedule::early, Schedule::late, Schedule::shuffle};

at::Tensor pinned(std::initializer_list<float> numbers) {
  const auto count = static_cast<int64_t>(numbers.size());
  const at::Tensor tensor = sim::pinned_empty({count}, at::kFloat);
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data_ptr<float>());
  return tensor;
}

float first_of(const at::Tensor& host) { return *host.const_data_ptr<float>(); }

c10::Stream current_stream() {
  return c10::Stream(c10::Stream::UNSAFE, sim::torch_device(), sim::Context::current_stream_id());
}

/// What is enqueued on `waiting` from now on follows what `on` holds.
void order(const c10::Stream& waiting, const c10::Stream& on) {
  c10::Event event(sim::device_type);
  event.record(on);
  event.block(waiting);
}

class Late : public DeviceTest {
 protected:
  Late() { device_.reset({.schedule = Schedule::late}); }
};

TEST_F(Late, the_device_says_that_it_follows_schedules) {
  EXPECT_TRUE(device_.abilities().behaviours);
}

TEST_F(Late, a_copy_to_the_host_arrives_when_the_host_waits) {
  const at::Tensor x = at::full({1}, 5, on_device());
  const at::Tensor host = pinned({1});
  host.copy_(x, /*non_blocking=*/true);
  EXPECT_EQ(first_of(host), 1);
  device_.synchronize();
  EXPECT_EQ(first_of(host), 5);
}

TEST_F(Late, a_blocking_copy_waits_for_its_stream) {
  const at::Tensor x = at::full({1}, 5, on_device());
  const at::Tensor host = pinned({1});
  host.copy_(x);
  EXPECT_EQ(first_of(host), 5);
}

TEST_F(Late, a_pinned_source_is_read_when_the_copy_runs) {
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor host = pinned({1});
  x.copy_(host, /*non_blocking=*/true);
  host.fill_(2);
  EXPECT_THAT(values(x), ElementsAre(2)) << "the host was too early, as on a device";
}

TEST_F(Late, a_pinned_source_may_be_rewritten_after_an_event_behind_the_copy) {
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor host = pinned({1});
  x.copy_(host, /*non_blocking=*/true);
  c10::Event copied(sim::device_type);
  copied.record(current_stream());
  copied.synchronize();
  host.fill_(2);
  EXPECT_THAT(values(x), ElementsAre(1));
}

TEST_F(Late, a_pageable_source_is_staged_at_the_call) {
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor host = at::ones({1});
  x.copy_(host, /*non_blocking=*/true);
  host.fill_(2);
  EXPECT_THAT(values(x), ElementsAre(1));
}

TEST_F(Late, a_pinned_source_that_nobody_keeps_lives_until_it_was_read) {
  const at::Tensor x = at::zeros({1}, on_device());
  x.copy_(pinned({7}), /*non_blocking=*/true);
  const at::Tensor thief = pinned({9});
  EXPECT_THAT(values(x), ElementsAre(7));
}

TEST_F(Late, a_launched_graph_reads_its_pinned_source_when_it_runs) {
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor host = pinned({1});
  const auto graph = capture([&] { x.copy_(host, /*non_blocking=*/true); });
  graph->replay();
  host.fill_(2);
  EXPECT_THAT(values(x), ElementsAre(2));
}

TEST_F(Late, bytes_that_the_harness_writes_are_taken_at_the_call_and_written_in_stream_order) {
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor y = at::zeros({1}, on_device());
  float number = 1;
  device_.write(x, 0, std::as_bytes(std::span(&number, 1)));
  number = 2;
  y.copy_(x);
  device_.fill(x, std::byte{0});
  EXPECT_THAT(values(y), ElementsAre(1));
  EXPECT_THAT(values(x), ElementsAre(0));
}

TEST_F(Late, a_side_stream_that_nothing_orders_runs_last) {
  const at::Tensor x = at::zeros({1}, on_device());
  const c10::Stream side = sim::new_stream();
  order(side, current_stream());
  {
    const c10::StreamGuard guard(side);
    x.fill_(1);
  }
  x.fill_(2);
  device_.synchronize();
  EXPECT_THAT(values(x), ElementsAre(1));
}

TEST_F(Late, an_event_makes_a_stream_follow_another) {
  const at::Tensor x = at::zeros({1}, on_device());
  const c10::Stream side = sim::new_stream();
  {
    const c10::StreamGuard guard(side);
    x.fill_(1);
  }
  order(current_stream(), side);
  x.fill_(2);
  EXPECT_THAT(values(x), ElementsAre(2));
}

TEST_F(Late, rule_18_the_legacy_stream_and_a_blocking_one_follow_each_other) {
  const at::Tensor x = at::zeros({1}, on_device());
  {
    const c10::StreamGuard guard(sim::new_blocking_stream());
    x.fill_(1);
  }
  x.mul_(10).add_(1);
  EXPECT_THAT(values(x), ElementsAre(11));
}

TEST_F(Late, a_value_that_is_read_back_waits_for_its_stream_alone) {
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor host = pinned({1});
  {
    const c10::StreamGuard guard(sim::new_stream());
    host.copy_(x, /*non_blocking=*/true);
  }
  x.add_(3);
  EXPECT_EQ(x.item<float>(), 3);
  EXPECT_EQ(first_of(host), 1) << "the other stream still has its copy";
  device_.synchronize();
}

TEST_F(Late, waiting_for_an_event_runs_what_it_stands_for_and_no_more) {
  const at::Tensor x = at::full({1}, 5, on_device());
  const at::Tensor before = pinned({1}), after = pinned({1});
  before.copy_(x, /*non_blocking=*/true);
  c10::Event event(sim::device_type);
  event.record(current_stream());
  after.copy_(x, /*non_blocking=*/true);
  event.synchronize();
  EXPECT_EQ(first_of(before), 5);
  EXPECT_EQ(first_of(after), 1);
  EXPECT_TRUE(event.query());
  EXPECT_TRUE(current_stream().query()) << "to ask is to wait";
  EXPECT_EQ(first_of(after), 5);
}

TEST_F(Late, memory_that_is_freed_and_used_again_on_its_stream_is_right) {
  const at::Tensor x = at::ones({4}, on_device());
  at::Tensor sum = at::zeros({4}, on_device());
  for (int i = 0; i < 20; ++i) sum.add_(at::mul(at::add(x, i), 2));
  EXPECT_THAT(values(sum), Each(2 * (20 + 190)));
}

TEST_F(Late, memory_that_is_freed_while_another_stream_reads_it_is_another_tensor_by_then) {
  const at::Tensor y = at::zeros({4}, on_device());
  const c10::Stream side = sim::new_stream();
  at::Tensor x = at::ones({4}, on_device());
  order(side, current_stream());
  {
    const c10::StreamGuard guard(side);
    y.copy_(x);
  }
  x = at::Tensor();
  const at::Tensor thief = at::full({4}, 9, on_device());
  device_.synchronize();
  EXPECT_THAT(values(y), Each(9));
}

TEST_F(Late, memory_that_was_recorded_on_the_other_stream_is_not_handed_out_before) {
  const at::Tensor y = at::zeros({4}, on_device());
  const c10::Stream side = sim::new_stream();
  at::Tensor x = at::ones({4}, on_device());
  order(side, current_stream());
  {
    const c10::StreamGuard guard(side);
    y.copy_(x);
  }
  x.record_stream(side);
  x = at::Tensor();
  const at::Tensor thief = at::full({4}, 9, on_device());
  device_.synchronize();
  EXPECT_THAT(values(y), Each(1));
}

TEST_F(Late, rule_54_a_kernel_that_fails_is_reported_where_the_host_waits_and_stays) {
  const at::Tensor table = at::ones({3}, on_device());
  const at::Tensor index = at::full({1}, 7, on_device(at::kLong));
  const at::Tensor found = at::index_select(table, 0, index);
  EXPECT_EQ(code_of([&] { device_.synchronize(); }), 710);
  EXPECT_EQ(code_of([&] { table.add_(1); }), 710);
}

TEST_F(Late, rule_50_launches_of_one_graph_follow_each_other_on_any_streams) {
  const at::Tensor x = at::zeros({1}, on_device());
  const auto graph = capture([&] { x.add_(1); });
  const at::Tensor seen = pinned({0});
  {
    const c10::StreamGuard guard(sim::new_stream());
    graph->replay();
  }
  graph->replay();
  seen.copy_(x);
  EXPECT_EQ(first_of(seen), 2);
}

TEST_F(Late, a_graph_that_is_destroyed_has_run_what_was_launched) {
  const at::Tensor x = at::zeros({1}, on_device());
  auto graph = capture([&] { x.add_(1); });
  graph->replay();
  graph.reset();
  EXPECT_THAT(values(x), ElementsAre(1));
}

TEST_F(Late, a_reset_drops_what_is_pending_and_goes_back_to_running_at_once) {
  {
    const at::Tensor host = pinned({1});
    at::zeros({1}, on_device()).copy_(host, /*non_blocking=*/true);
  }
  device_.reset();
  const at::Tensor x = at::zeros({1}, on_device());
  const at::Tensor host = pinned({1});
  x.copy_(host, /*non_blocking=*/true);
  host.fill_(2);
  EXPECT_THAT(values(x), ElementsAre(1));
}

TEST_F(Late, host_functions_run_in_the_order_of_their_stream) {
  const at::Tensor host = pinned({1});
  float seen = 0;
  host.copy_(at::full({1}, 5, on_device()), /*non_blocking=*/true);
  sim::launch_host_function([&] { seen = first_of(host); });
  EXPECT_EQ(seen, 0);
  device_.synchronize();
  EXPECT_EQ(seen, 5);
}

/// A graph of a step that reads, in `joined` after waiting for it, what a second stream writes.
std::unique_ptr<Graph> forked_graph(const at::Tensor& written, const at::Tensor& read,
                                    bool joined) {
  const c10::Stream origin = sim::new_stream(), side = sim::new_stream();
  const c10::StreamGuard guard(origin);
  sim::Capture capture;
  order(side, origin);
  {
    const c10::StreamGuard on_side(side);
    written.add_(1);
  }
  if (joined) order(origin, side);
  read.copy_(written);
  if (!joined) order(origin, side);
  return capture.end();
}

/// The numbers that ten replays read, of which the n-th should be n.
std::vector<float> seen_by_replays(SimDevice& device, const DeviceBehaviour& behaviour,
                                   bool joined) {
  device.reset(behaviour);
  const at::Tensor written = at::zeros({1}, on_device()), read = at::zeros({1}, on_device());
  const auto graph = forked_graph(written, read, joined);
  std::vector<float> seen;
  for (int i = 0; i < 10; ++i) {
    graph->replay();
    seen.push_back(values(read)[0]);
  }
  return seen;
}

class Schedules : public DeviceTest {
 protected:
  const std::vector<float> right_{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
};

TEST_F(Schedules, rule_32_a_missing_join_shows_late_and_in_some_orders_and_not_early) {
  EXPECT_EQ(seen_by_replays(device_, {}, false), right_);
  const std::vector<float> late = seen_by_replays(device_, {.schedule = Schedule::late}, false);
  EXPECT_THAT(late, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  const std::vector<float> some = seen_by_replays(device_, {.schedule = Schedule::shuffle}, false);
  EXPECT_NE(some, right_);
  EXPECT_NE(some, late);
}

TEST_F(Schedules, rule_32_what_is_joined_is_right_in_every_order) {
  for (const Schedule schedule : schedules) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(seen_by_replays(device_, {.schedule = schedule, .seed = seed}, true), right_);
    }
  }
}

/// A program with temporaries, copies, side streams, replays and random numbers, in which
/// everything is ordered that has to be; and what it computes.
std::vector<std::byte> random_program(SimDevice& device, uint64_t seed,
                                      const DeviceBehaviour& behaviour) {
  device.reset(behaviour);
  std::mt19937_64 random(seed);
  std::vector<at::Tensor> x;
  for (int i = 0; i < 4; ++i) x.push_back(at::full({8}, i + 1, on_device()));
  const c10::Stream side = sim::new_stream();
  const auto graph = device.capture([&] { x[0].copy_(at::add(x[1], x[2]).mul_(0.5)); });
  for (int i = 0; i < 60; ++i) {
    const at::Tensor& a = x[random() % 4];
    const at::Tensor& b = x[random() % 4];
    switch (random() % 8) {
      case 0:
        a.copy_(at::add(at::mul(b, 0.25), a));
        break;
      case 1:
        a.copy_(pinned({1, 2, 3, 4, 5, 6, 7, 8}), /*non_blocking=*/true);
        break;
      case 2:
        graph->replay();
        break;
      case 3:
        a.copy_(at::rand({8}, on_device()));
        break;
      case 4: {
        order(side, current_stream());
        {
          const c10::StreamGuard guard(side);
          a.add_(b);
        }
        order(current_stream(), side);
        break;
      }
      case 5:
        a.add_(b.select(0, 0).item<float>());
        break;
      case 6:
        device.fill(a, std::byte{0});
        break;
      default:
        a.select(0, static_cast<int64_t>(random() % 8)).copy_(b.select(0, 1));
    }
  }
  std::vector<std::byte> all;
  for (const at::Tensor& tensor : x) {
    const auto of_tensor = bytes(device, tensor);
    all.insert(all.end(), of_tensor.begin(), of_tensor.end());
  }
  return all;
}

TEST_F(Schedules, an_ordered_program_computes_the_same_bits_under_every_schedule) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const auto early = random_program(device_, seed, {});
    EXPECT_EQ(random_program(device_, seed, {.schedule = Schedule::late}), early) << seed;
    for (const uint64_t order_seed : {1, 2}) {
      EXPECT_EQ(random_program(device_, seed, {.schedule = Schedule::shuffle, .seed = order_seed}),
                early)
          << seed;
    }
  }
}

}  // namespace
}  // namespace thaw::test
