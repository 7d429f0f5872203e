// SPDX-License-Identifier: Apache-2.0
//
// A reset leaves nothing behind: a case gives the same bits after any other case.
#include <ATen/ops/rand.h>
#include <c10/core/Event.h>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

/// Everything that a case can notice of the device.
struct Trace {
  std::vector<std::byte> bytes;
  std::vector<uintptr_t> addresses;
  std::vector<uint64_t> generations;
  std::string dot;
  std::vector<std::string> arguments;
  bool operator==(const Trace&) const = default;
};

class Reset : public DeviceTest {
 protected:
  static void note(Trace& trace, const Device& device, const at::Tensor& tensor) {
    const auto read = bytes(device, tensor);
    trace.bytes.insert(trace.bytes.end(), read.begin(), read.end());
    trace.addresses.push_back(address_of(tensor));
    trace.generations.push_back(device.memory_of(tensor).generation);
  }

  /// A cache written by replays, fresh memory left as it is, pinned memory and a side stream.
  static Trace case_a(Device& device) {
    Trace trace;
    at::Tensor slots = at::empty({6, 4}, on_device());  // contents as they come
    at::Tensor position = at::ones({1}, on_device(at::kLong));
    at::Tensor entry = at::full({1, 4}, 3, on_device());
    at::Tensor pinned = sim::pinned_empty({4}, at::kFloat);
    at::Tensor total;
    auto graph = device.capture([&] {
      slots.index_copy_(0, position, entry);
      position.add_(1);
      total = (entry * 2).sum();
      entry.mul_(total);
    });
    for (int replay = 0; replay < 3; ++replay) graph->replay(replay);
    for (const at::Tensor& tensor : {slots, position, entry, total}) note(trace, device, tensor);
    trace.dot = graph->dot();
    for (const GraphNode& node : graph->nodes()) {
      for (const Argument& argument : node.arguments) trace.arguments.push_back(argument.text);
    }
    trace.addresses.push_back(address_of(pinned));
    trace.addresses.push_back(static_cast<uintptr_t>(sim::new_stream().id()));
    trace.generations.push_back(graph->pool());
    note(trace, device, at::rand({4}, on_device()));
    note(trace, device, at::empty({64}, on_device()));
    return trace;
  }

  /// Other sizes, pools that share, work of several streams.
  void case_b() {
    at::Tensor big = at::full({100000}, 7, on_device());
    at::Tensor out, more;
    auto first = capture([&] { out = big * 3; });
    auto second = capture([&] { more = big + out; }, first->pool());
    second->replay();
    first->replay();
    const c10::Stream side = sim::new_stream();
    c10::StreamGuard guard(side);
    at::full({64}, 9, on_device()).add_(at::rand({64}, on_device()));
    c10::Event event(sim::device_type);
    event.record(side);
  }

  /// Refusals, and a capture that is dropped.
  void case_c() {
    at::Tensor x = at::full({24}, -1, on_device());
    EXPECT_EQ(code_of([&] { capture([&] { x.sum().item(); }); }), 900);
    EXPECT_THROW(capture([&] { x.mm(x); }), c10::Error);
    c10::StreamGuard guard(sim::new_stream());
    sim::Capture dropped;
    x.add_(1);
  }

  /// Freed memory left alone, and the thread's mode changed and put back.
  void case_d() {
    device_.set_poison_freed(false);
    for (int64_t size : {4, 24, 64, 2000}) at::full({size}, 42, on_device());
  }
};

TEST_F(Reset, a_case_gives_the_same_bits_addresses_and_nodes_after_any_other_case) {
  const Trace expected = case_a(device_);
  device_.reset();
  EXPECT_EQ(case_a(device_), expected) << "after itself";
  const std::vector<std::function<void()>> others{[&] { case_b(); }, [&] { case_c(); },
                                                  [&] { case_d(); }};
  for (const auto& first : others) {
    for (const auto& second : others) {
      device_.reset();
      first();
      device_.reset();
      second();
      device_.reset();
      EXPECT_EQ(case_a(device_), expected);
    }
  }
}

TEST_F(Reset, without_a_reset_a_case_notices_the_ones_before) {
  const Trace expected = case_a(device_);
  case_b();
  EXPECT_FALSE(case_a(device_) == expected) << "what the test above compares can differ";
}

TEST_F(Reset, another_device_gives_the_same_bits) {
  const Trace expected = case_a(device_);
  SimDevice other;
  const Trace there = case_a(other);
  EXPECT_EQ(there.bytes, expected.bytes);
  EXPECT_EQ(there.generations, expected.generations);
  EXPECT_NE(there.addresses, expected.addresses);
}

TEST_F(Reset, throws_while_a_tensor_is_alive_and_changes_nothing) {
  at::Tensor x = at::ones({4}, on_device());
  const uintptr_t address = address_of(x);
  EXPECT_THROW(device_.reset(), std::logic_error);
  EXPECT_EQ(values(x), (std::vector<float>{1, 1, 1, 1}));
  x.reset();
  EXPECT_NO_THROW(device_.reset());
  EXPECT_EQ(address_of(at::ones({4}, on_device())), address);
}

TEST_F(Reset, throws_while_a_view_is_alive) {
  at::Tensor view = at::ones({4}, on_device()).narrow(0, 1, 2);
  EXPECT_THROW(device_.reset(), std::logic_error);
  view.reset();
  EXPECT_NO_THROW(device_.reset());
}

TEST_F(Reset, throws_while_pinned_memory_is_alive) {
  at::Tensor pinned = sim::pinned_empty({4}, at::kFloat);
  EXPECT_THROW(device_.reset(), std::logic_error);
  pinned.reset();
  EXPECT_NO_THROW(device_.reset());
}

TEST_F(Reset, throws_while_a_graph_is_alive) {
  std::unique_ptr<Graph> graph;
  {
    at::Tensor x = at::ones({4}, on_device());
    graph = capture([&] { x.add_(1); });
  }
  EXPECT_THROW(device_.reset(), std::logic_error);
  graph.reset();
  EXPECT_NO_THROW(device_.reset());
}

TEST_F(Reset, throws_during_a_capture) {
  EXPECT_THROW(capture([&] { device_.reset(); }), std::logic_error);
  EXPECT_NO_THROW(device_.reset());
}

}  // namespace
}  // namespace thaw::test
