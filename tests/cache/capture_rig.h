// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/caller.h"
#include "cache/kv_cache.h"
#include "device/device.h"

namespace thaw {

/// One row of 16 slots on `device`.
inline CacheSpec one_row_on(const Device& device) {
  CacheSpec spec;
  spec.device = device.torch_device();
  spec.q_len_max = 5;
  return spec;
}

/// Prompt of five tokens, then `warm_ups` steps that the caller throws away.
inline void prompt_and_warm_up(Caller& caller, int64_t warm_ups) {
  caller.step({5, {0}, {0}}, 1);
  for (int64_t i = 0; i < warm_ups; ++i) caller.step({1, {0}, {5}}, 2 + i);
}

using Slots = std::vector<std::vector<int64_t>>;

/// The slots of row 0 that each of four replays wrote. The caller refills positions from 5 on
/// before each replay, as one must.
inline Slots slots_of_four_replays(KvCache& cache, Caller& caller, Graph& graph) {
  Slots slots;
  for (int64_t i = 0; i < 4; ++i) {
    caller.refill({1, {0}, {5 + i}}, 10 + i);
    const CacheContents before(cache);
    graph.replay();
    slots.push_back(CacheContents(cache).slots_changed_since(before, 0));
  }
  return slots;
}

/// Every host value that the graph froze, in order.
inline std::vector<std::string> host_values_of(const Graph& graph) {
  std::vector<std::string> values;
  for (const GraphNode& node : graph.nodes()) {
    for (const Argument& argument : node.arguments) {
      if (!argument.memory) values.push_back(argument.text);
    }
  }
  return values;
}

inline bool froze(const Graph& graph, const std::string& value) {
  return std::ranges::count(host_values_of(graph), value) > 0;
}

/// How much of what the graph touches was freed.
inline int64_t freed_memory_of(const Graph& graph, const Device& device) {
  return std::ranges::count_if(
      graph.memory(), [&](const MemoryUse& use) { return device.state(use) != MemoryState::live; });
}

}  // namespace thaw
