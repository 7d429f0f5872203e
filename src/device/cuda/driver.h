// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thaw::cuda {

/// A kernel launch as a graph holds it. Parameters are raw bytes (rule 63); how many there are and
/// how long each is, the driver tells.
struct KernelLaunch {
  std::string kernel;  ///< demangled
  unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
  std::vector<std::vector<std::byte>> parameters;
  /// Why `parameters` is empty although there may be some; empty: they are all there.
  std::string parameters_unknown;
};

/// The calls of the CUDA driver that the runtime library has no counterpart for. They are looked up
/// when they are first used: a program that links the driver's library does not start on a machine
/// without a GPU.
class Driver {
 public:
  static const Driver& get();

  /// Throws DeviceError.
  KernelLaunch launch_of(cudaGraphNode_t kernel_node) const;

  struct Range {
    uintptr_t address = 0;
    size_t bytes = 0;
  };
  /// The allocation of CUDA's, device or pinned, that holds an address.
  std::optional<Range> allocation_of(uintptr_t address) const;

 private:
  Driver();

  /// Where the sizes of a kernel's parameters come from: it is a CUkernel or a CUfunction.
  CUresult parameter(const CUDA_KERNEL_NODE_PARAMS& node, size_t index, size_t& offset,
                     size_t& bytes) const;
  std::string name_of(const CUDA_KERNEL_NODE_PARAMS& node) const;

  decltype(&cuGraphKernelNodeGetParams) node_params_ = nullptr;
  decltype(&cuFuncGetName) function_name_ = nullptr;
  decltype(&cuFuncGetParamInfo) function_parameter_ = nullptr;
  decltype(&cuKernelGetName) kernel_name_ = nullptr;
  decltype(&cuKernelGetParamInfo) kernel_parameter_ = nullptr;
  decltype(&cuPointerGetAttribute) pointer_attribute_ = nullptr;
};

}  // namespace thaw::cuda
