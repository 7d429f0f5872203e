// SPDX-License-Identifier: Apache-2.0
//
// The program thaw-cuda: the same cases on a GPU.

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "cli/bad_input.h"
#include "cli/run_program.h"
#include "device/cuda/cuda_device.h"

namespace {

std::unique_ptr<thaw::Device> make_device(bool /*fill_freed_memory*/) {
  try {
    return std::make_unique<thaw::CudaDevice>();
  } catch (const thaw::DeviceError& e) {
    throw thaw::BadInput(fmt::format(
        "there is no GPU that can be used here: {}; run this where 'nvidia-smi' lists one, or "
        "without a GPU on the simulated device (--device sim)",
        e.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int minor = CUDART_VERSION % 1000 / 10;
  return thaw::run_program({.program = "thaw-cuda",
                            .name = "cuda",
                            .title = "a GPU",
                            .libraries = fmt::format("LibTorch {}, CUDA {}.{}", TORCH_VERSION,
                                                     CUDART_VERSION / 1000, minor),
                            .fills_freed_memory = false,
                            .make = make_device},
                           argc, argv);
}
