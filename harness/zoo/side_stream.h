// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

namespace thaw::zoo {

/// A second stream, for work beside that of the current one. In a capture it is forked from the
/// captured stream, and has to be joined before the capture ends.
class SideStream {
 public:
  /// Outside a capture.
  explicit SideStream(c10::Device device);

  /// Enqueues on the side stream what `work` enqueues, after all that the current stream holds.
  template <class Work>
  void fork(Work&& work) {
    follow_current_stream();
    const c10::StreamGuard on_side_stream(stream_);
    work();
  }
  /// What is enqueued on the current stream from now on follows all that the side stream holds.
  void join();

 private:
  void follow_current_stream();

  c10::Stream stream_;
};

/// The current stream of a device.
c10::Stream current_stream(c10::Device device);

}  // namespace thaw::zoo
