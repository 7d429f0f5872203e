// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "device/sim/errors.h"

namespace thaw::sim {

struct CaptureState;

/// Which other calls a capture forbids, and which a thread may make beside captures (rule 24).
/// The names are those of cudaStreamCaptureMode.
enum class CaptureMode { global, thread_local_, relaxed };

/// Swaps the thread's mode, as cudaThreadExchangeStreamCaptureMode does; global at first (rule 24).
CaptureMode exchange_thread_mode(CaptureMode mode);

/// What the devices of one process share: captures forbid calls on other devices too (rule 24), and
/// a failed capture may end all capturing (rule 14). A simulated device is a process of its own
/// unless it is given another's. Its lock is taken after those of devices.
class Process {
 public:
  /// Throws 901 once a failed capture was told with `failed_for_good`, until forget_failure().
  void begin(CaptureState& capture);
  void end(CaptureState& capture);
  void failed_for_good();
  void forget_failure();

  /// Work that is not ordered by any stream, such as cudaMalloc (rules 19 and 24): throws 900 and
  /// invalidates the captures that forbid it to this thread.
  void potentially_unsafe_call(std::string_view call);

 private:
  std::mutex mutex_;
  std::vector<CaptureState*> captures_;  ///< under way, on any thread and device
  bool unable_to_capture_ = false;
};

/// Invalidates the capture, if there is one, and throws: `error`, or 901 when it was invalid before
/// (rule 7).
[[noreturn]] void fail(Error error, std::string_view call, CaptureState* capture);

/// Does so for one call that several captures forbid, and invalidates all of them. Returns if there
/// are none.
void fail_for_all(Error error, std::string_view call, const std::vector<CaptureState*>& captures);

}  // namespace thaw::sim
