// SPDX-License-Identifier: Apache-2.0
#include "device/sim/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "device/sim/random.h"
#include "device/sim/recorder.h"

namespace thaw::sim {

namespace {

/// Each piece of memory once. A block of the graph's own pool may have been handed out several
/// times in the capture (rule 42): what counts is its last generation.
std::vector<MemoryUse> collect_memory(const std::vector<Node>& nodes, uint64_t pool) {
  std::vector<MemoryUse> memory;
  for (const Node& node : nodes) {
    for (const Use& use : node.uses) {
      const MemoryUse piece = memory_use(use, pool);
      const auto same = [&](const MemoryUse& known) {
        return known.address == piece.address && known.generation == piece.generation;
      };
      const auto known = std::find_if(memory.begin(), memory.end(), same);
      if (known == memory.end()) {
        memory.push_back(piece);
        continue;
      }
      known->bytes = std::max(known->bytes, piece.bytes);
      known->read |= piece.read;
      known->written |= piece.written;
    }
  }
  return memory;
}

}  // namespace

MemoryUse memory_use(const Use& use, uint64_t pool) {
  MemoryUse memory;
  memory.own_pool = use.block->pool == pool && !use.block->host;
  memory.address = reinterpret_cast<uintptr_t>(use.block->address);
  memory.bytes = use.bytes;
  memory.generation = use.generation;
  memory.host = use.block->host;
  memory.read = use.read;
  memory.written = use.written;
  return memory;
}

SimGraph::SimGraph(std::shared_ptr<Context> context, CaptureState& capture)
    : context_(std::move(context)),
      pool_(capture.pool),
      nodes_(std::move(capture.nodes)),
      draws_(std::move(capture.draws)) {
  for (Node& node : nodes_) {
    for (Use& use : node.uses) {
      if (use.block->pool == pool_) use.generation = use.block->generation;
    }
  }
  memory_ = collect_memory(nodes_, pool_);
  ++context_->graphs_alive();
}

SimGraph::~SimGraph() {
  const auto guard = context_->lock();
  --context_->graphs_alive();
  context_->memory().release_pool(pool_, context_->poison_freed());
}

void SimGraph::replay(std::optional<uint64_t> order_seed) {
  const auto guard = context_->lock();
  context_->check_usable("cudaGraphLaunch");
  if (Context::current_or_null() == context_.get() &&
      context_->capture_for("cudaGraphLaunch") != nullptr) {
    context_->refuse("a replay inside a capture, which would add a child graph");
  }
  for (GraphDraws& draws : draws_) draws.start = philox(draws.generator).take(draws.count);
  const KernelScope scope;
  try {
    if (!order_seed) {
      for (const Node& node : nodes_) run_node(node, scratch_);
      return;
    }
    for (const size_t next : draw_order(*order_seed)) run_node(nodes_[next], scratch_);
  } catch (const DeviceError& error) {
    context_->fail_device(error);
  }
}

std::vector<size_t> SimGraph::draw_order(uint64_t seed) const {
  std::mt19937_64 random(seed);
  std::vector<size_t> waits_for(nodes_.size());
  std::vector<std::vector<size_t>> followers(nodes_.size());
  std::vector<size_t> ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    waits_for[i] = nodes_[i].after.size();
    for (const size_t before : nodes_[i].after) followers[before].push_back(i);
    if (nodes_[i].after.empty()) ready.push_back(i);
  }
  std::vector<size_t> order;
  order.reserve(nodes_.size());
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const size_t next = ready.back();
    ready.pop_back();
    order.push_back(next);
    for (const size_t follower : followers[next]) {
      if (--waits_for[follower] == 0) ready.push_back(follower);
    }
  }
  return order;
}

std::vector<GraphNode> SimGraph::nodes() const {
  const auto guard = context_->lock();
  std::vector<GraphNode> described;
  described.reserve(nodes_.size());
  for (const Node& node : nodes_) described.push_back(describe(node, pool_));
  return described;
}

std::string SimGraph::dot() const {
  std::string text = "digraph graph_of_a_capture {\n  node [shape=box];\n";
  const std::vector<GraphNode> described = nodes();
  for (size_t i = 0; i < described.size(); ++i) {
    text += fmt::format("  n{} [label=\"{}: {}", i, i, described[i].operation);
    for (const Argument& argument : described[i].arguments) {
      text += fmt::format("\\l{} = {}", argument.name, argument.text);
    }
    text += "\\l\"];\n";
    for (const size_t before : described[i].after)
      text += fmt::format("  n{} -> n{};\n", before, i);
  }
  return text + "}\n";
}

}  // namespace thaw::sim
