// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "device/sim/context.h"
#include "device/sim/runtime.h"

namespace thaw::sim {

/// A capture of the current stream, under way from construction to end() or destruction. This is
/// what SimDevice::capture is made of; use it for captures with several streams, threads or modes.
///
///     c10::StreamGuard guard(sim::new_stream());
///     sim::Capture capture;
///     tensor.add_(1);
///     std::unique_ptr<thaw::Graph> graph = capture.end();
class Capture {
 public:
  /// Throws std::logic_error on the default stream (rule 2), DeviceError 900 on one that captures
  /// already, 901 after a failed capture if the device is strict (rule 14), std::invalid_argument
  /// for a pool that never was (0: a new pool).
  explicit Capture(CaptureMode mode = CaptureMode::global, uint64_t pool = 0);
  ~Capture();  ///< drops what was recorded, unless end() was called
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Throws DeviceError. 903 (not on the stream where it began, rule 3) and 908 (not on the thread,
  /// rule 4) leave it under way; 901 (invalidated, rule 7) and 904 (a stream was not joined back,
  /// rule 31) end it without a graph.
  std::unique_ptr<Graph> end();

  uint64_t pool() const;
  bool invalidated() const;

 private:
  std::shared_ptr<Context> context_;
  std::shared_ptr<CaptureState> state_;
};

}  // namespace thaw::sim
