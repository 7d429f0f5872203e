// SPDX-License-Identifier: Apache-2.0
#include "device/graph_dump.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace thaw {
namespace {

/// Names for all memory of one graph.
class Names {
 public:
  explicit Names(const NameMemory& name) : name_(name) {}

  std::string operator()(const MemoryUse& use) {
    std::string name = name_ ? name_(use) : "";
    return name.empty() ? numbered(use) : name;
  }

 private:
  std::string numbered(const MemoryUse& use) {
    const std::pair key{use.address, use.generation};
    const auto known = std::find(unnamed_.begin(), unnamed_.end(), key);
    const auto number = known - unnamed_.begin() + 1;
    if (known == unnamed_.end()) unnamed_.push_back(key);
    const char* kind = "device memory";
    if (use.own_pool) kind = "pool memory";
    if (use.host) kind = "pinned memory";
    return fmt::format("{} {}", kind, number);
  }

  const NameMemory& name_;
  std::vector<std::pair<uintptr_t, uint64_t>> unnamed_;
};

std::string_view usage(const MemoryUse& use) {
  if (use.written) return use.read ? "read and written" : "written";
  return use.read ? "read" : "unused";
}

std::string argument_text(const Argument& argument, Names& names) {
  std::string text = fmt::format("{} = {}", argument.name, argument.text);
  if (!argument.memory) return text;
  return text + fmt::format(" in {}, {}", names(*argument.memory), usage(*argument.memory));
}

/// As a part of a quoted string of Graphviz.
std::string quoted_part(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

}  // namespace

std::string graph_text(std::string_view title, std::span<const GraphNode> nodes,
                       const NameMemory& name) {
  Names names(name);
  std::string text =
      fmt::format("{}: {} node{}\n", title, nodes.size(), nodes.size() == 1 ? "" : "s");
  for (size_t i = 0; i < nodes.size(); ++i) {
    text += fmt::format("{:>4}  {}", i, nodes[i].operation);
    if (!nodes[i].after.empty()) text += fmt::format("  after {}", fmt::join(nodes[i].after, ", "));
    text += '\n';
    for (const Argument& argument : nodes[i].arguments) {
      text += fmt::format("        {}\n", argument_text(argument, names));
    }
  }
  return text;
}

std::string graph_dot(std::string_view title, std::span<const GraphNode> nodes,
                      const NameMemory& name) {
  Names names(name);
  std::string text = fmt::format("digraph \"{}\" {{\n  node [shape=box];\n", quoted_part(title));
  for (size_t i = 0; i < nodes.size(); ++i) {
    text += fmt::format("  n{} [label=\"{}: {}\\l", i, i, quoted_part(nodes[i].operation));
    for (const Argument& argument : nodes[i].arguments) {
      text += fmt::format("{}\\l", quoted_part(argument_text(argument, names)));
    }
    text += "\"];\n";
    for (const size_t before : nodes[i].after) text += fmt::format("  n{} -> n{};\n", before, i);
  }
  return text + "}\n";
}

}  // namespace thaw
