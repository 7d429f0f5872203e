// SPDX-License-Identifier: Apache-2.0
#include "session/graph_dumps.h"

#include <fmt/format.h>

#include "device/graph_dump.h"

namespace thaw {

void GraphDumps::after(const Moment& moment, Findings& /*findings*/) {
  if (moment.op.kind != OpKind::capture) return;
  const CapturedGraph* captured = moment.subject.find_graph(moment.op.graph);
  if (captured == nullptr || captured->graph == nullptr) return;
  const NameMemory name = [&](const MemoryUse& use) -> std::string {
    for (const NamedMemory& named : captured->bound) {
      const bool same = named.memory.address == use.address;
      if (same && named.memory.generation == use.generation) return named.name;
    }
    return "";
  };
  const std::vector<GraphNode> nodes = captured->graph->nodes();
  const std::string title = fmt::format("graph {}", captured->name);
  dumps_.push_back({.run = runs_ - 1,
                    .op = moment.op_number,
                    .graph = captured->name,
                    .text = graph_text(title, nodes, name),
                    .dot = graph_dot(title, nodes, name)});
}

}  // namespace thaw
