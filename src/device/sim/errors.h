// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "device/device.h"

namespace thaw::sim {

/// What the simulated device refuses or fails with: the numbers of cudaError_t.
enum class Error : int {
  invalid_value = 1,
  memory_allocation = 2,
  illegal_address = 700,
  device_assert = 710,
  not_permitted = 800,  ///< inside a host function
  not_supported = 801,  ///< CUDA could, the simulation does not: see not_simulated
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_merge = 902,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_isolation = 905,
  capture_implicit = 906,
  captured_event = 907,
  capture_wrong_thread = 908,
};

std::string_view error_name(Error error);  ///< "cudaErrorStreamCaptureUnsupported"
std::string_view error_text(Error error);  ///< what cudaGetErrorString says, to the letter

/// "error 900 (cudaErrorStreamCaptureUnsupported): operation not permitted when stream is capturing
/// [what was called]". DeviceError is thrown straight through LibTorch's boxed dispatcher.
DeviceError device_error(Error error, std::string_view call);

/// A refusal by name, "not simulated: ...", with the number of cudaErrorNotSupported: nothing is
/// approximated.
DeviceError not_simulated_error(std::string_view what);

}  // namespace thaw::sim
