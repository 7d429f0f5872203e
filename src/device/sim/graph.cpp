// SPDX-License-Identifier: Apache-2.0
#include "device/sim/graph.h"

#include <algorithm>
#include <random>

#include "device/graph_dump.h"
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
  try {
    context_->finish_all();       // launches of this graph may be among it
  } catch (const DeviceError&) {  // stays, and is reported by the next call
  }
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
  std::vector<GeneratorState> starts;
  for (const GraphDraws& draws : draws_)
    starts.push_back(philox(draws.generator).take(draws.count));
  if (context_->queue().defers()) {
    launch_later(starts, order_seed);
    return;
  }
  try {
    run(starts, order_seed ? draw_order(*order_seed) : std::vector<size_t>());
  } catch (const DeviceError& error) {
    context_->fail_device(error);
  }
}

void SimGraph::run(const std::vector<GeneratorState>& starts, const std::vector<size_t>& order) {
  for (size_t i = 0; i < starts.size(); ++i) draws_[i].start = starts[i];
  const KernelScope scope;
  if (order.empty()) {
    for (const Node& node : nodes_) run_node(node, scratch_);
  } else {
    for (const size_t next : order) run_node(nodes_[next], scratch_);
  }
}

/// Behind the last launch of the same graph, which never overlaps itself (rule 50).
void SimGraph::launch_later(std::vector<GeneratorState> starts,
                            std::optional<uint64_t> order_seed) {
  WorkQueue& queue = context_->queue();
  if (!order_seed && queue.schedule() == Schedule::shuffle) order_seed = queue.draw();
  std::vector<size_t> order = order_seed ? draw_order(*order_seed) : late_order();
  queue.wait(Context::current_stream_id(), std::span(&last_launch_, 1));
  last_launch_ = context_->enqueue(
      [this, starts = std::move(starts), order = std::move(order)] { run(starts, order); });
}

/// As late as the edges allow: the stream where the capture began goes on as far as it can, and
/// forked work runs when it is needed.
std::vector<size_t> SimGraph::late_order() const {
  std::vector<size_t> order;
  std::vector<bool> done(nodes_.size());
  const auto add = [&](size_t last) {
    std::vector<size_t> chain{last};
    while (!chain.empty()) {
      const size_t node = chain.back();
      const std::vector<size_t>& after = nodes_[node].after;
      const auto before =
          std::find_if(after.begin(), after.end(), [&](size_t other) { return !done[other]; });
      if (!done[node] && before != after.end()) {
        chain.push_back(*before);
        continue;
      }
      if (!done[node]) order.push_back(node);
      done[node] = true;
      chain.pop_back();
    }
  };
  for (const bool forked : {false, true}) {
    for (size_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node].forked == forked) add(node);
    }
  }
  return order;
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

std::string SimGraph::dot() const { return graph_dot("graph", nodes()); }

}  // namespace thaw::sim
