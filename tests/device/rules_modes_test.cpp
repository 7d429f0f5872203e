// SPDX-License-Identifier: Apache-2.0
//
// Capture modes, within one device and across those of a process: rule 24.
#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using sim::CaptureMode;

/// A potentially unsafe call (rule 19) beside a capture.
struct Situation {
  CaptureMode capture;
  CaptureMode thread;
  bool on_the_capturing_thread;
};

class RulesOfModes : public DeviceTest {
 protected:
  /// Whether the call is refused with 900; checks that the capture is invalidated just then.
  static bool refused(const Situation& situation) {
    at::Tensor x = at::ones({1}, on_device());
    c10::StreamGuard guard(sim::new_stream());
    sim::Capture capture(situation.capture);
    x.add_(1);
    int code = -1;
    const auto call = [&] {
      const CaptureMode before = sim::exchange_thread_mode(situation.thread);
      code = code_of([] { sim::malloc_and_free(); });
      EXPECT_EQ(sim::exchange_thread_mode(before), situation.thread);
    };
    situation.on_the_capturing_thread ? call() : std::thread(call).join();
    EXPECT_EQ(code_of([&] { capture.end(); }), code == 0 ? 0 : 901);
    EXPECT_TRUE(code == 0 || code == 900) << code;
    EXPECT_EQ(values(x)[0], 1);
    return code == 900;
  }
};

TEST_F(RulesOfModes, rule_24_in_global_mode_the_threads_own_global_capture_forbids) {
  EXPECT_TRUE(refused({CaptureMode::global, CaptureMode::global, true}));
}

TEST_F(RulesOfModes, rule_24_in_global_mode_another_threads_global_capture_forbids) {
  EXPECT_TRUE(refused({CaptureMode::global, CaptureMode::global, false}));
}

TEST_F(RulesOfModes, rule_24_in_global_mode_the_threads_own_thread_local_capture_forbids) {
  EXPECT_TRUE(refused({CaptureMode::thread_local_, CaptureMode::global, true}));
}

TEST_F(RulesOfModes, rule_24_in_global_mode_another_threads_thread_local_capture_allows) {
  EXPECT_FALSE(refused({CaptureMode::thread_local_, CaptureMode::global, false}));
}

TEST_F(RulesOfModes, rule_24_in_global_mode_a_relaxed_capture_allows) {
  EXPECT_FALSE(refused({CaptureMode::relaxed, CaptureMode::global, true}));
  EXPECT_FALSE(refused({CaptureMode::relaxed, CaptureMode::global, false}));
}

TEST_F(RulesOfModes, rule_24_in_thread_local_mode_only_the_threads_own_capture_forbids) {
  EXPECT_TRUE(refused({CaptureMode::global, CaptureMode::thread_local_, true}));
  EXPECT_TRUE(refused({CaptureMode::thread_local_, CaptureMode::thread_local_, true}));
  EXPECT_FALSE(refused({CaptureMode::relaxed, CaptureMode::thread_local_, true}));
  EXPECT_FALSE(refused({CaptureMode::global, CaptureMode::thread_local_, false}));
  EXPECT_FALSE(refused({CaptureMode::thread_local_, CaptureMode::thread_local_, false}));
}

TEST_F(RulesOfModes, rule_24_in_relaxed_mode_no_capture_forbids) {
  for (auto capture : {CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed}) {
    EXPECT_FALSE(refused({capture, CaptureMode::relaxed, true}));
    EXPECT_FALSE(refused({capture, CaptureMode::relaxed, false}));
  }
}

TEST_F(RulesOfModes, rule_24_a_thread_starts_in_global_mode) {
  CaptureMode mode = CaptureMode::relaxed;
  std::thread([&] { mode = sim::exchange_thread_mode(CaptureMode::relaxed); }).join();
  EXPECT_EQ(mode, CaptureMode::global);
}

TEST_F(RulesOfModes, rule_24_a_global_capture_forbids_calls_on_other_devices_of_its_process) {
  const SimOptions of_the_same_process{.process = device_.context().process()};
  for (auto mode : {CaptureMode::global, CaptureMode::thread_local_, CaptureMode::relaxed}) {
    at::Tensor x = at::ones({1}, on_device());
    c10::StreamGuard guard(sim::new_stream());
    sim::Capture capture(mode);
    x.add_(1);
    const int code = code_on_another_thread([&] {
      SimDevice other(of_the_same_process);
      sim::malloc_and_free();
    });
    const bool forbidden = mode == CaptureMode::global;
    EXPECT_EQ(code, forbidden ? 900 : 0);
    EXPECT_EQ(code_of([&] { x.add_(1); }), forbidden ? 901 : 0) << "invalidated from over there";
    EXPECT_EQ(code_of([&] { capture.end(); }), forbidden ? 901 : 0);
  }
}

TEST_F(RulesOfModes, rule_24_a_device_is_a_process_of_its_own_unless_told_otherwise) {
  at::Tensor x = at::ones({1}, on_device());
  c10::StreamGuard guard(sim::new_stream());
  sim::Capture capture(CaptureMode::global);
  x.add_(1);
  EXPECT_EQ(code_on_another_thread([] {
              SimDevice other;
              sim::malloc_and_free();
            }),
            0);
  EXPECT_EQ(code_of([&] { capture.end(); }), 0);
}

TEST_F(RulesOfModes, rule_25_captures_are_global_unless_told_otherwise) {
  const at::Tensor x = at::ones({1}, on_device());
  int code = -1;
  const auto step = [&] {
    x.add_(1);
    code = code_on_another_thread([] { sim::malloc_and_free(); });
  };
  EXPECT_EQ(code_of([&] { capture(step); }), 901);
  EXPECT_EQ(code, 900);
  c10::StreamGuard guard(sim::new_stream());
  sim::Capture by_default;
  EXPECT_EQ(code_on_another_thread([] { sim::malloc_and_free(); }), 900);
}

}  // namespace
}  // namespace thaw::test
