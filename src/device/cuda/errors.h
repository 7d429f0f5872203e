// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <string_view>
#include <utility>

#include "device/device.h"

namespace thaw::cuda {

/// "error 900 (cudaErrorStreamCaptureUnsupported): operation not permitted when stream is capturing
/// [what was called]", as the simulated device says it.
DeviceError device_error(cudaError_t error, std::string_view call);

/// Throws device_error unless the call succeeded, and clears what CUDA keeps as its last error.
void check(cudaError_t error, std::string_view call);

/// Runs a call of LibTorch's; where CUDA fails in it, a DeviceError with CUDA's number comes out.
/// Everything else passes through.
template <class Call>
decltype(auto) with_device_errors(std::string_view what, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const c10::AcceleratorError& e) {
    throw device_error(static_cast<cudaError_t>(e.get_error_code()), what);
  } catch (const c10::OutOfMemoryError&) {
    throw device_error(cudaErrorMemoryAllocation, what);
  }
}

}  // namespace thaw::cuda
