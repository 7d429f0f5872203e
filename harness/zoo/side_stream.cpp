// SPDX-License-Identifier: Apache-2.0
#include "zoo/side_stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace thaw::zoo {

SideStream::SideStream(c10::Device device)
    : stream_(c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device)) {}

void SideStream::follow_current_stream() {
  c10::Event event(stream_.device_type());
  event.record(current_stream(stream_.device()));
  event.block(stream_);
}

void SideStream::join() {
  c10::Event event(stream_.device_type());
  event.record(stream_);
  event.block(current_stream(stream_.device()));
}

c10::Stream current_stream(c10::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace thaw::zoo
