// SPDX-License-Identifier: Apache-2.0
#include "device/sim/errors.h"

#include <fmt/format.h>

namespace thaw::sim {

namespace {

struct Entry {
  Error error;
  std::string_view name;
  std::string_view text;
};

constexpr Entry entries[] = {
    {Error::invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {Error::memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {Error::illegal_address, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {Error::device_assert, "cudaErrorAssert", "device-side assert triggered"},
    {Error::not_permitted, "cudaErrorNotPermitted", "operation not permitted"},
    {Error::not_supported, "cudaErrorNotSupported", "operation not supported"},
    {Error::capture_unsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {Error::capture_invalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {Error::capture_merge, "cudaErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {Error::capture_unmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {Error::capture_unjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {Error::capture_isolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {Error::capture_implicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {Error::captured_event, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {Error::capture_wrong_thread, "cudaErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
};

const Entry& entry_of(Error error) {
  for (const Entry& entry : entries) {
    if (entry.error == error) return entry;
  }
  throw std::logic_error("an error number without a name");
}

}  // namespace

std::string_view error_name(Error error) { return entry_of(error).name; }

std::string_view error_text(Error error) { return entry_of(error).text; }

DeviceError device_error(Error error, std::string_view call) {
  const int code = static_cast<int>(error);
  return DeviceError(code, fmt::format("error {} ({}): {} [{}]", code, error_name(error),
                                       error_text(error), call));
}

DeviceError not_simulated_error(std::string_view what) {
  return DeviceError(static_cast<int>(Error::not_supported),
                     fmt::format("not simulated: {}", what));
}

}  // namespace thaw::sim
