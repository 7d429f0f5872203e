// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/errors.h"

#include <fmt/format.h>

namespace thaw::cuda {

DeviceError device_error(cudaError_t error, std::string_view call) {
  const int code = static_cast<int>(error);
  return DeviceError(code, fmt::format("error {} ({}): {} [{}]", code, cudaGetErrorName(error),
                                       cudaGetErrorString(error), call));
}

void check(cudaError_t error, std::string_view call) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw device_error(error, call);
}

}  // namespace thaw::cuda
