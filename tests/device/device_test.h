// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/StreamGuard.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/device.h"
#include "device/sim/sim_device.h"

namespace thaw::test {

/// A simulated device of its own for each test.
class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() { at::set_num_threads(1); }  // additions in one order, whatever the machine

  std::unique_ptr<Graph> capture(const std::function<void()>& step, uint64_t pool = 0) {
    return device_.capture(step, {.pool = pool});
  }

  SimDevice device_;
};

inline at::TensorOptions on_device(at::ScalarType type = at::kFloat) {
  return at::TensorOptions(c10::Device(c10::DeviceType::PrivateUse1, 0)).dtype(type);
}

/// The code of the DeviceError that `call` throws, 0 if it throws nothing. Other exceptions pass.
template <class Call>
int code_of(Call&& call) {
  try {
    call();
  } catch (const DeviceError& error) {
    return error.code();
  }
  return 0;
}

/// What `call` returns or throws on a thread of its own, which has no stream or mode of its own
/// yet.
template <class Call>
int code_on_another_thread(Call&& call) {
  int code = -1;
  std::thread([&] { code = code_of(call); }).join();
  return code;
}

/// The elements of a tensor, for comparisons with lists of numbers.
template <class T = float>
std::vector<T> values(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  return {host.const_data_ptr<T>(), host.const_data_ptr<T>() + host.numel()};
}

inline std::vector<std::byte> bytes(const Device& device, const at::Tensor& contiguous) {
  std::vector<std::byte> scratch;
  const auto read = device.read(contiguous, scratch);
  return {read.begin(), read.end()};
}

inline bool all_bytes_are(const Device& device, const at::Tensor& contiguous, int value) {
  const auto read = bytes(device, contiguous);
  return std::all_of(read.begin(), read.end(), [&](std::byte b) { return b == std::byte(value); });
}

inline uintptr_t address_of(const at::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.const_data_ptr());
}

}  // namespace thaw::test
