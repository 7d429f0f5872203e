// SPDX-License-Identifier: Apache-2.0
//
// What is illegal during a capture: rules 15 to 22.
#include <ATen/ops/_unique2.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/linalg_cholesky.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/repeat_interleave.h>
#include <c10/core/Event.h>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

/// How a capture fares in which `call` is made between two legal operations.
struct Fate {
  int call, next_operation, end;
  bool operator==(const Fate&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Fate& fate) {
    return out << "call " << fate.call << ", next operation " << fate.next_operation << ", end "
               << fate.end;
  }
};
constexpr Fate refused{900, 901, 901};
constexpr Fate legal{0, 0, 0};

class RulesOfIllegalCalls : public DeviceTest {
 protected:
  Fate fate_of(const std::function<void()>& call) {
    const at::Tensor before = x_.clone();
    c10::StreamGuard guard(stream_);
    sim::Capture capture(mode_);
    x_.add_(1);
    Fate fate{code_of(call), code_of([&] { x_.add_(1); }), code_of([&] { capture.end(); })};
    EXPECT_EQ(values(x_), values(before)) << "a capture runs nothing, whatever its fate";
    return fate;
  }

  at::Tensor x_ = at::arange(4, on_device());
  at::Tensor indices_ = at::arange(4, on_device(at::kLong));
  c10::Stream stream_ = sim::new_stream();
  sim::CaptureMode mode_ = sim::CaptureMode::global;
};

TEST_F(RulesOfIllegalCalls, rule_15_waiting_for_a_capturing_stream_is_refused) {
  EXPECT_EQ(fate_of([&] { stream_.synchronize(); }), refused);
  EXPECT_EQ(fate_of([&] { stream_.query(); }), refused);

  const c10::Stream other = sim::new_stream();
  EXPECT_EQ(fate_of([&] { other.synchronize(); }), legal);
  EXPECT_EQ(fate_of([&] { other.query(); }), legal);
  stream_.synchronize();
}

TEST_F(RulesOfIllegalCalls, rule_15_reading_a_value_back_is_refused) {
  EXPECT_EQ(fate_of([&] { x_[0].item(); }), refused);
  EXPECT_EQ(fate_of([&] { x_[0].item<float>(); }), refused);
  EXPECT_EQ(fate_of([&] { x_[0].is_nonzero(); }), refused);
  EXPECT_EQ(fate_of([&] { x_.equal(x_); }), refused);
  EXPECT_EQ(fate_of([&] { x_.allclose(x_); }), refused);
  EXPECT_EQ(fate_of([&] { x_.sizes(); }), legal) << "the host knows the shape";
  EXPECT_EQ(x_[3].item<float>(), 3) << "outside a capture";
}

TEST_F(RulesOfIllegalCalls, rule_16_waiting_for_the_whole_device_is_refused) {
  EXPECT_EQ(fate_of([&] { device_.synchronize(); }), refused);
  EXPECT_EQ(fate_of([&] { sim::synchronize_device(); }), refused);
  EXPECT_EQ(fate_of([&] {
              const int code = code_on_another_thread([] { sim::synchronize_device(); });
              if (code != 0) throw DeviceError(code, "on another thread");
            }),
            refused)
      << "also for a thread that captures nothing";
  EXPECT_EQ(code_of([&] { device_.synchronize(); }), 0);
}

TEST_F(RulesOfIllegalCalls, rule_17_a_captured_event_has_no_time_even_in_relaxed_mode) {
  for (auto mode : {sim::CaptureMode::global, sim::CaptureMode::relaxed}) {
    mode_ = mode;
    c10::Event event(sim::device_type, c10::EventFlag::BACKEND_DEFAULT);
    constexpr Fate captured_event{907, 901, 901};
    EXPECT_EQ(fate_of([&] { (event.record(stream_), event.query()); }), captured_event);
    EXPECT_EQ(fate_of([&] { (event.record(stream_), event.synchronize()); }), captured_event);
    EXPECT_EQ(fate_of([&] { (event.record(stream_), event.elapsedTime(event)); }), captured_event);
    EXPECT_EQ(fate_of([&] { event.record(stream_); }), legal);
  }
}

TEST_F(RulesOfIllegalCalls, rule_17_an_event_of_a_stream_that_does_not_capture_has_a_time) {
  c10::Event event(sim::device_type, c10::EventFlag::BACKEND_DEFAULT);
  event.record(stream_);
  EXPECT_TRUE(event.query());
  event.synchronize();
  EXPECT_EQ(fate_of([&] { event.record(stream_); }), legal);
  event.record(stream_);
  EXPECT_TRUE(event.query()) << "recorded anew outside the capture";
}

TEST_F(RulesOfIllegalCalls, rule_17_an_event_of_a_capture_has_no_time_after_it_either) {
  c10::Event event(sim::device_type, c10::EventFlag::BACKEND_DEFAULT);
  EXPECT_EQ(fate_of([&] { event.record(stream_); }), legal);
  EXPECT_EQ(code_of([&] { event.query(); }), 907);
  EXPECT_EQ(code_of([&] { event.synchronize(); }), 907);
  EXPECT_EQ(code_of([&] { event.elapsedTime(event); }), 907);
  event.record(stream_);
  EXPECT_EQ(code_of([&] { event.synchronize(); }), 0);
}

/// What work on the default stream does to the capture of another.
class RuleOfTheLegacyStream : public RulesOfIllegalCalls {
 protected:
  Fate fate_beside(const std::function<void()>& call) {
    return fate_of([&] {
      c10::StreamGuard guard(default_stream_);
      call();
    });
  }
  c10::Stream default_stream_{c10::Stream::DEFAULT, device_.torch_device()};
  c10::Event event_{sim::device_type};
};

TEST_F(RuleOfTheLegacyStream, rule_18_its_work_beside_a_blocking_streams_capture_is_906) {
  stream_ = sim::new_blocking_stream();
  at::Tensor y = at::ones({1}, on_device());
  const at::Tensor host = at::ones({1}), pinned = sim::pinned_empty({1}, at::kFloat);
  auto graph = capture([&] { y.add_(1); });
  constexpr Fate implicit{906, 901, 901};
  EXPECT_EQ(fate_beside([&] { y.add_(1); }), implicit);
  EXPECT_EQ(fate_beside([&] { y.item(); }), implicit);
  EXPECT_EQ(fate_beside([&] { y.copy_(host); }), implicit);
  EXPECT_EQ(fate_beside([&] { y.copy_(pinned, /*non_blocking=*/true); }), implicit);
  EXPECT_EQ(fate_beside([&] { sim::memset_async(y, 0); }), implicit);
  EXPECT_EQ(fate_beside([&] { sim::launch_host_function([] {}); }), implicit);
  EXPECT_EQ(fate_beside([&] { graph->replay(); }), implicit);
  EXPECT_EQ(fate_beside([&] { default_stream_.synchronize(); }), implicit);
  EXPECT_EQ(fate_beside([&] { event_.record(default_stream_); }), implicit);
  EXPECT_EQ(values(y)[0], 1) << "none of it ran";
  y.add_(1);
  EXPECT_EQ(values(y)[0], 2) << "nothing captures any more";
}

TEST_F(RuleOfTheLegacyStream, rule_18_streams_of_libtorch_do_not_block_so_it_works_beside_them) {
  at::Tensor y = at::ones({1}, on_device());
  EXPECT_EQ(fate_beside([&] { y.add_(1); }), legal);
  EXPECT_EQ(fate_beside([&] { event_.record(default_stream_); }), legal);
  EXPECT_EQ(values(y)[0], 2);
  const c10::Stream other = sim::new_stream();
  stream_ = sim::new_blocking_stream();
  EXPECT_EQ(fate_of([&] {
              c10::StreamGuard guard(other);
              y.add_(1);
            }),
            legal)
      << "nor is another stream the legacy one";
}

TEST_F(RulesOfIllegalCalls, rule_19_calls_that_no_stream_orders_are_refused) {
  EXPECT_EQ(fate_of([] { sim::pinned_empty({1}, at::kFloat); }), refused);
  EXPECT_EQ(fate_of([] { at::empty({1}, at::TensorOptions().pinned_memory(true)); }), refused);
  EXPECT_EQ(fate_of([] { sim::malloc_and_free(); }), refused);
  EXPECT_EQ(fate_of([] { at::empty({1}, on_device()); }), legal) << "memory of the pool (rule 26)";
  EXPECT_EQ(code_of([] { sim::pinned_empty({1}, at::kFloat); }), 0);
  EXPECT_EQ(code_of([] { sim::malloc_and_free(); }), 0);
}

TEST_F(RulesOfIllegalCalls, rule_19_another_threads_call_is_refused_and_invalidates_the_capture) {
  int code = 0;
  const auto allocate_elsewhere = [&] {
    code = code_on_another_thread([] { sim::pinned_empty({1}, at::kFloat); });
  };
  EXPECT_EQ(fate_of(allocate_elsewhere), (Fate{0, 901, 901}));
  EXPECT_EQ(code, 900);
  mode_ = sim::CaptureMode::thread_local_;
  EXPECT_EQ(fate_of(allocate_elsewhere), legal);
  EXPECT_EQ(code, 0);
}

TEST_F(RulesOfIllegalCalls, rule_20_a_call_that_no_graph_can_hold_is_refused) {
  EXPECT_EQ(fate_of([] { sim::attach_memory_async(); }), refused);
  mode_ = sim::CaptureMode::relaxed;
  EXPECT_EQ(fate_of([] { sim::attach_memory_async(); }), refused) << "whatever the mode";
  EXPECT_EQ(code_of([] { sim::attach_memory_async(); }), 0);
}

TEST_F(RulesOfIllegalCalls, rule_21_shapes_that_depend_on_data_are_refused) {
  EXPECT_EQ(fate_of([&] { x_.nonzero(); }), refused);
  EXPECT_EQ(fate_of([&] { x_.masked_select(x_ > 1); }), refused);
  EXPECT_EQ(fate_of([&] { x_.index({x_ > 1}); }), refused);
  EXPECT_EQ(fate_of([&] { x_.index_put_({x_ > 1}, x_[0]); }), refused);
  EXPECT_EQ(fate_of([&] { at::_unique2(x_); }), refused);
  EXPECT_EQ(fate_of([&] { indices_.bincount(); }), refused);
  EXPECT_EQ(fate_of([&] { at::histc(x_); }), refused);
  EXPECT_EQ(fate_of([&] { at::one_hot(indices_); }), refused);
  EXPECT_EQ(fate_of([&] { at::repeat_interleave(indices_); }), refused);
  EXPECT_EQ(fate_of([&] { at::linalg_cholesky(x_.view({2, 2})); }), refused);
  EXPECT_EQ(fate_of([&] { x_.slice(0, 0, indices_[2].item<int64_t>()); }), refused);
}

TEST_F(RulesOfIllegalCalls, rule_21_the_same_work_with_a_shape_that_the_host_knows_is_legal) {
  EXPECT_EQ(fate_of([&] { x_.masked_fill(x_ > 1, 0); }), legal);
  EXPECT_EQ(fate_of([&] { x_.index({indices_}); }), legal);
  EXPECT_EQ(fate_of([&] { x_.index_put_({indices_}, x_ + 1); }), legal);
  EXPECT_EQ(fate_of([&] { at::one_hot(indices_, 6); }), legal);
  EXPECT_EQ(fate_of([&] { at::repeat_interleave(at::ones_like(indices_), 4); }), legal);
  EXPECT_EQ(fate_of([&] { x_.slice(0, 0, 2).add_(1); }), legal);
}

TEST_F(RulesOfIllegalCalls, rule_21_repeats_are_legal_when_their_sum_is_given) {
  const at::Tensor repeats = at::ones({4}, on_device(at::kLong));
  at::Tensor repeated;
  auto graph = capture([&] { repeated = x_.repeat_interleave(repeats, 0, /*output_size=*/4); });
  graph->replay();
  EXPECT_THAT(values(repeated), ElementsAre(0, 1, 2, 3));
}

TEST_F(RulesOfIllegalCalls, rule_22_with_lazy_loading_an_operators_first_use_is_refused) {
  device_.context().set_lazy_loading(true);
  x_.clone().add_(1);  // so what surrounds the call is loaded
  EXPECT_EQ(fate_of([&] { x_.mul_(2); }), refused);
  EXPECT_EQ(fate_of([&] { x_.mul_(2); }), refused) << "a refused call loads nothing";
  x_.mul(2);  // the warm-up, with another overload and another kernel
  EXPECT_EQ(fate_of([&] { x_.sub_(2); }), refused);
  x_.mul_(2);
  x_.sub_(2);
  EXPECT_EQ(fate_of([&] { (x_.mul_(2), x_.sub_(2)); }), legal);
  mode_ = sim::CaptureMode::relaxed;
  EXPECT_EQ(fate_of([&] { x_.div_(2); }), legal) << "a potentially unsafe call like others";
}

TEST_F(RulesOfIllegalCalls, rule_22_a_reset_forgets_what_was_loaded) {
  SimDevice device;
  const auto code_of_capture = [&](bool warm) {
    const at::Tensor y = at::zeros({1}, on_device());
    if (warm) y.add_(1);
    return code_of([&] { device.capture([&] { y.add_(1); }); });
  };
  device.reset({.lazy_libraries = true});
  EXPECT_EQ(code_of_capture(/*warm=*/true), 0);
  EXPECT_EQ(code_of_capture(/*warm=*/false), 0);
  device.reset({.lazy_libraries = true});
  EXPECT_EQ(code_of_capture(/*warm=*/false), 900);
  device.reset();
  EXPECT_EQ(code_of_capture(/*warm=*/false), 0);
}

TEST_F(RulesOfIllegalCalls, rule_22_without_lazy_loading_no_warm_up_is_needed) {
  EXPECT_EQ(fate_of([&] { x_.mul_(2); }), legal);
}

}  // namespace
}  // namespace thaw::test
