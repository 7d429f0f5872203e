// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device/cuda/cuda_device.h"

namespace thaw::test {

/// A test on real CUDA graphs. Where there is no GPU it is skipped, by name and with the reason.
///
/// Suites whose names end in `Alone` hold tests that may leave the process unable to use the GPU
/// (rules 14 and 54): tests/gpu/run gives each of them a process of its own.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = std::make_unique<CudaDevice>();
    } catch (const DeviceError& e) {
      GTEST_SKIP() << "not run on a GPU: " << e.what();
    }
  }

  std::unique_ptr<Graph> capture(const std::function<void()>& step, uint64_t pool = 0) {
    return device_->capture(step, {.pool = pool});
  }

  std::unique_ptr<CudaDevice> device_;
};

inline at::TensorOptions on_gpu(at::ScalarType type = at::kFloat) {
  return at::TensorOptions(c10::Device(c10::DeviceType::CUDA, 0)).dtype(type);
}

/// The number of the CUDA error that `call` fails with, through thaw or through LibTorch; 0: none.
/// Other exceptions pass.
template <class Call>
int code_of(Call&& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.code();
  } catch (const c10::AcceleratorError& error) {
    return error.get_error_code();
  }
  return 0;
}

/// The elements of a tensor, for comparisons with lists of numbers.
template <class T = float>
std::vector<T> values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  return {host.const_data_ptr<T>(), host.const_data_ptr<T>() + host.numel()};
}

/// What the GPU did where no source says what it does. tests/gpu/run collects these lines.
inline void observe(std::string_view rule, std::string_view what) {
  std::cout << "OBSERVED " << rule << ": " << what << std::endl;
}
inline std::string name_of(cudaError_t error) {
  return std::to_string(static_cast<int>(error)) + " (" + cudaGetErrorName(error) + ")";
}

}  // namespace thaw::test
