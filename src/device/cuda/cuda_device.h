// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/cuda/CUDAStream.h>

#include <memory>

#include "device/device.h"

namespace thaw {

/// The first GPU, with LibTorch's CUDA graphs: see README.md beside this file. Only one per
/// process, and none where the simulated device is linked.
///
/// Eager work runs on the current stream. Operations throw what LibTorch throws; of CUDA's errors
/// that is c10::AcceleratorError, and DeviceError from the members of this class.
class CudaDevice final : public Device {
 public:
  /// Throws DeviceError if there is no GPU that CUDA can use.
  CudaDevice();

  std::string_view name() const override { return "cuda"; }
  c10::Device torch_device() const override;
  /// None: CUDA does not tell what became of memory or what a kernel's parameters mean, and orders
  /// the nodes of a replay itself.
  DeviceAbilities abilities() const override { return {}; }
  void synchronize() override;
  /// All captures run on one side stream, so graphs that share a pool also reuse its memory.
  std::unique_ptr<Graph> capture(const std::function<void()>& step,
                                 const CaptureOptions& options = {}) override;
  /// A copy in `scratch`, behind all work of the current stream. Host tensors without one.
  std::span<const std::byte> read(const at::Tensor& tensor,
                                  std::vector<std::byte>& scratch) const override;
  void write(const at::Tensor& tensor, size_t offset, std::span<const std::byte> bytes) override;
  void fill(const at::Tensor& tensor, std::byte value) override;
  GeneratorState generator() const override;
  void set_generator(const GeneratorState& state) override;
  MemoryState state(const MemoryUse& use) const override;
  MemoryUse memory_of(const at::Tensor& tensor) const override;
  /// Gives memory back to CUDA and seeds the generator. What fresh memory holds is not reset: CUDA
  /// promises nothing about it. The behaviour is ignored: a real device has its own.
  void reset(const DeviceBehaviour& behaviour = {}) override;

 private:
  c10::cuda::CUDAStream side_stream_;
  std::shared_ptr<int64_t> graphs_alive_ = std::make_shared<int64_t>(0);
};

}  // namespace thaw
