// SPDX-License-Identifier: Apache-2.0
//
// Devices of several threads share nothing; a device of several threads is used by one at a time.
#include <ATen/ops/rand.h>
#include <c10/core/InferenceMode.h>

#include <atomic>

#include "device/sim/capture.h"
#include "device/sim/context.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;

constexpr int thread_count = 4;

template <class Work>
void on_threads(Work work) {
  std::vector<std::thread> threads;
  for (int index = 0; index < thread_count; ++index) threads.emplace_back(work, index);
  for (std::thread& thread : threads) thread.join();
}

/// A cache that counts on the device, replayed; wrong if another thread's work gets in.
bool replays_are_right(Device& device, int index) {
  c10::InferenceMode inference;
  const float value = static_cast<float>(index + 1);
  const at::Tensor entry = at::full({1, 8}, value, on_device());
  at::Tensor position = at::zeros({1}, on_device(at::kLong));
  at::Tensor slots = at::zeros({32, 8}, on_device());
  at::Tensor sum;
  auto graph = device.capture([&] {
    slots.index_copy_(0, position, entry);
    position.add_(1);
    sum = slots.sum(0) + entry.view({8});
  });
  for (int replay = 0; replay < 10; ++replay) graph->replay();
  return values(sum) == std::vector<float>(8, 11 * value) && values<int64_t>(position)[0] == 10;
}

TEST(Threads, each_with_its_own_device_share_nothing) {
  std::atomic<int> wrong = 0;
  on_threads([&](int index) {
    SimDevice device;
    uintptr_t first_address = 0;
    for (int round = 0; round < 25; ++round) {
      wrong += !replays_are_right(device, index);
      const uintptr_t address = address_of(at::zeros({1}, on_device()));
      if (round == 0) first_address = address;
      wrong += address != first_address;  // an allocation elsewhere would move it
      wrong += sim::live_blocks() != 0;
      device.reset();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, a_capture_or_a_refusal_of_one_device_does_not_reach_another) {
  SimDevice device;
  at::Tensor x = at::ones({1}, on_device());
  auto graph = device.capture([&] {
    x.add_(1);
    std::thread([] {
      SimDevice other;
      at::Tensor y = at::ones({1}, on_device());
      EXPECT_EQ(y.item<float>(), 1) << "reads back while the other device captures";
      EXPECT_EQ(code_of([] { sim::pinned_empty({1}, at::kFloat); }), 0);
      EXPECT_EQ(code_of([] { sim::malloc_and_free(); }), 0);
      EXPECT_EQ(code_of([] { sim::synchronize_device(); }), 0);
      EXPECT_EQ(code_of([&] { other.capture([&] { y.item(); }); }), 900);
    }).join();
  });
  graph->replay();
  EXPECT_EQ(values(x)[0], 2);
}

TEST(Threads, each_device_draws_its_own_random_numbers) {
  SimDevice device;
  const auto drawn = values(at::rand({4}, on_device()));
  std::vector<float> drawn_elsewhere;
  std::thread([&] {
    SimDevice other;
    drawn_elsewhere = values(at::rand({4}, on_device()));
  }).join();
  EXPECT_EQ(drawn_elsewhere, drawn);
  EXPECT_NE(values(at::rand({4}, on_device())), drawn);
}

TEST(Threads, a_tensor_of_another_device_is_refused) {
  SimDevice device;
  const at::Tensor x = at::ones({4}, on_device());
  {
    SimDevice other;
    const at::Tensor y = at::ones({4}, on_device());
    EXPECT_EQ(code_of([&] { x + y; }), 700);
    EXPECT_EQ(code_of([&] { x.cpu(); }), 700);
    EXPECT_THAT(values(y + y), Each(2));
  }
  EXPECT_THAT(values(x + x), Each(2));
}

TEST(Threads, one_device_serves_several_eagerly) {
  SimDevice device;
  std::atomic<int> wrong = 0;
  on_threads([&](int index) {
    c10::InferenceMode inference;
    for (int round = 0; round < 200; ++round) {
      at::Tensor x = at::empty({64}, on_device());
      const float value = static_cast<float>(1000 * index + round);
      x.fill_(value);
      wrong += x[3].item<float>() != value;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, one_device_serves_several_that_capture_at_once) {
  SimDevice device;
  std::atomic<int> wrong = 0;
  on_threads([&](int index) {
    c10::InferenceMode inference;
    for (int round = 0; round < 25; ++round) {
      at::Tensor entry = at::full({8}, float(index + 1), on_device());
      at::Tensor sum = at::zeros({8}, on_device());
      std::unique_ptr<Graph> graph;
      {
        c10::StreamGuard guard(sim::new_stream());
        sim::Capture capture(sim::CaptureMode::thread_local_);
        sum.add_(entry * 2);
        graph = capture.end();
      }
      for (int replay = 0; replay < 5; ++replay) graph->replay();
      wrong += values(sum) != std::vector<float>(8, 10.f * float(index + 1));
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, a_guard_chooses_the_device_of_a_thread) {
  SimDevice first;
  SimDevice second;
  at::Tensor x = at::ones({4}, on_device());
  std::thread([&] {
    EXPECT_THROW(at::ones({4}, on_device()), std::logic_error) << "two devices and no choice";
    sim::ContextGuard guard(second.context());
    EXPECT_THAT(values(x + 1), Each(2));
    sim::ContextGuard other(first.context());
    EXPECT_EQ(code_of([&] { x + 1; }), 700);
  }).join();
}

TEST(Threads, a_thread_without_a_choice_uses_the_only_device) {
  SimDevice device;
  at::Tensor x = at::ones({4}, on_device());
  std::thread([&] { x.add_(1); }).join();
  EXPECT_THAT(values(x), Each(2));
}

}  // namespace
}  // namespace thaw::test
