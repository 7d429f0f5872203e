// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "device/sim/node.h"

namespace thaw::sim {

/// A finished capture, and what it recorded. Owns what its nodes refer to except device and pinned
/// memory (rules 35 and 46), and one share of its pool.
class SimGraph final : public Graph {
 public:
  SimGraph(std::shared_ptr<Context> context, CaptureState& capture);
  ~SimGraph() override;

  /// Throws DeviceError 710 where a kernel fails on what memory holds; nodes before it have run,
  /// and the device is of no use any more (rule 54). Refused ("not simulated") while the current
  /// stream captures: that would be a child graph.
  void replay(std::optional<uint64_t> order_seed = std::nullopt) override;
  std::vector<GraphNode> nodes() const override;
  size_t node_count() const override { return nodes_.size(); }
  /// What in-place operators write also counts as read; results and `out=` arguments do not.
  std::span<const MemoryUse> memory() const override { return memory_; }
  uint64_t pool() const override { return pool_; }
  std::string dot() const override;

 private:
  /// In recorded order if `order` is empty. `starts` says where the graph's draws begin.
  void run(const std::vector<GeneratorState>& starts, const std::vector<size_t>& order);
  void launch_later(std::vector<GeneratorState> starts, std::optional<uint64_t> order_seed);
  std::vector<size_t> draw_order(uint64_t seed) const;
  std::vector<size_t> late_order() const;

  std::shared_ptr<Context> context_;
  uint64_t pool_;
  std::vector<Node> nodes_;
  std::deque<GraphDraws> draws_;
  std::vector<MemoryUse> memory_;
  WorkQueue::Id last_launch_ = 0;
  torch::jit::Stack scratch_;  ///< kept, so that a replay allocates nothing
};

/// A node in words: argument names and types from the schema, host values, tensors' geometry and
/// memory. Results that are no argument follow as "result0", "result1". Plain copies are "memcpy".
GraphNode describe(const Node& node, uint64_t pool);

MemoryUse memory_use(const Use& use, uint64_t pool);

}  // namespace thaw::sim
