// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/cuda/CUDAGraph.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace thaw::cuda {

/// LibTorch's graph, which here survives a capture that failed (rule 14): LibTorch ends it before
/// it tells its allocator and its generators, and leaves them in the capture for ever.
class Recording final : public at::cuda::CUDAGraph {
 public:
  Recording() : CUDAGraph(/*keep_graph=*/true) {}

  /// Captures what `step` enqueues on the current stream, and instantiates it. Throws DeviceError,
  /// or whatever `step` throws; the stream then captures no longer.
  void record(const std::function<void()>& step, uint64_t pool);

  uint64_t pool_number() { return pool().first; }

 private:
  void end_quietly() noexcept;
  void give_up() noexcept;
};

class CudaGraph final : public Graph {
 public:
  /// Describes the graph's nodes now, since what they refer to may be gone later. `alive` counts
  /// the graphs of a device.
  CudaGraph(std::unique_ptr<Recording> recording, std::vector<GraphNode> nodes,
            std::shared_ptr<int64_t> alive);
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  /// On the current stream. CUDA chooses the order itself; a seed changes nothing (see
  /// DeviceAbilities::replay_orders).
  void replay(std::optional<uint64_t> order_seed) override;
  std::vector<GraphNode> nodes() const override { return nodes_; }
  size_t node_count() const override { return nodes_.size(); }
  /// What parameters of kernels, and the ends of copies and fills, point into. Not what a kernel
  /// reaches through pointers in device memory.
  std::span<const MemoryUse> memory() const override { return memory_; }
  uint64_t pool() const override { return recording_->pool_number(); }
  std::string dot() const override;  ///< as CUDA prints it

 private:
  std::unique_ptr<Recording> recording_;
  std::vector<GraphNode> nodes_;
  std::vector<MemoryUse> memory_;
  std::shared_ptr<int64_t> alive_;
};

}  // namespace thaw::cuda
