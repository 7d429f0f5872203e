// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/driver.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "device/cuda/errors.h"

namespace thaw::cuda {
namespace {

constexpr unsigned oldest_driver = 12040;  ///< the first that tells the sizes of parameters

/// A function of the driver, or null if it is older.
template <class Function>
void look_up(const char* name, Function& function) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &address, oldest_driver, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    address = nullptr;
  }
  function = reinterpret_cast<Function>(address);
}

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

const Driver& Driver::get() {
  static const Driver driver;
  return driver;
}

Driver::Driver() {
  look_up("cuGraphKernelNodeGetParams", node_params_);
  look_up("cuFuncGetName", function_name_);
  look_up("cuFuncGetParamInfo", function_parameter_);
  look_up("cuKernelGetName", kernel_name_);
  look_up("cuKernelGetParamInfo", kernel_parameter_);
  look_up("cuPointerGetAttribute", pointer_attribute_);
}

CUresult Driver::parameter(const CUDA_KERNEL_NODE_PARAMS& node, size_t index, size_t& offset,
                           size_t& bytes) const {
  return node.kern != nullptr ? kernel_parameter_(node.kern, index, &offset, &bytes)
                              : function_parameter_(node.func, index, &offset, &bytes);
}

std::string Driver::name_of(const CUDA_KERNEL_NODE_PARAMS& node) const {
  const char* name = nullptr;
  const CUresult result =
      node.kern != nullptr ? kernel_name_(&name, node.kern) : function_name_(&name, node.func);
  return result == CUDA_SUCCESS && name != nullptr ? demangled(name) : "a kernel without a name";
}

KernelLaunch Driver::launch_of(cudaGraphNode_t kernel_node) const {
  KernelLaunch launch;
  if (node_params_ == nullptr || function_name_ == nullptr || function_parameter_ == nullptr ||
      kernel_name_ == nullptr || kernel_parameter_ == nullptr) {
    launch.kernel = "a kernel";
    launch.parameters_unknown = "the driver is older than CUDA 12.4";
    return launch;
  }
  CUDA_KERNEL_NODE_PARAMS node{};
  check(static_cast<cudaError_t>(node_params_(kernel_node, &node)), "cuGraphKernelNodeGetParams");
  launch.kernel = name_of(node);
  launch.grid[0] = node.gridDimX, launch.grid[1] = node.gridDimY, launch.grid[2] = node.gridDimZ;
  launch.block[0] = node.blockDimX, launch.block[1] = node.blockDimY;
  launch.block[2] = node.blockDimZ;
  launch.shared_bytes = node.sharedMemBytes;
  if (node.kernelParams == nullptr) {
    if (node.extra != nullptr) launch.parameters_unknown = "they were passed as one buffer";
    return launch;
  }
  size_t offset = 0, bytes = 0;
  for (size_t i = 0; parameter(node, i, offset, bytes) == CUDA_SUCCESS; ++i) {
    const auto* from = static_cast<const std::byte*>(node.kernelParams[i]);
    launch.parameters.emplace_back(from, from + bytes);
  }
  return launch;
}

std::optional<Driver::Range> Driver::allocation_of(uintptr_t address) const {
  if (pointer_attribute_ == nullptr) return {};
  Range range;
  const auto start = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, size = CU_POINTER_ATTRIBUTE_RANGE_SIZE;
  if (pointer_attribute_(&range.address, start, address) != CUDA_SUCCESS ||
      pointer_attribute_(&range.bytes, size, address) != CUDA_SUCCESS) {
    return {};
  }
  return range;
}

}  // namespace thaw::cuda
