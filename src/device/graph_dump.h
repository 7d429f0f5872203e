// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "device/device.h"

namespace thaw {

/// What a piece of memory that a graph uses is called; empty if nobody has a name for it. Unnamed
/// memory is numbered in the order in which the nodes meet it, so that equal graphs give equal
/// dumps wherever their memory lies.
using NameMemory = std::function<std::string(const MemoryUse&)>;

/// A graph for people: each node with its number, its operation, the nodes that it follows, and its
/// arguments: frozen host values, and memory by name with how it is used.
std::string graph_text(std::string_view title, std::span<const GraphNode> nodes,
                       const NameMemory& name = {});

/// The same for Graphviz (rule 64): a box a node, an edge for each node that must have run before.
std::string graph_dot(std::string_view title, std::span<const GraphNode> nodes,
                      const NameMemory& name = {});

}  // namespace thaw
