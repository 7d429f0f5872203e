// SPDX-License-Identifier: Apache-2.0
#include "audit/recorded_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace thaw {
namespace {

/// Names memory in the order in which it first appears.
class MemoryNames {
 public:
  explicit MemoryNames(const std::vector<NamedMemory>& bound) : bound_(bound) {}

  std::string of(const MemoryUse& use) {
    const auto named = std::find_if(bound_.begin(), bound_.end(), [&](const NamedMemory& b) {
      return b.memory.address == use.address && b.memory.generation == use.generation;
    });
    if (named != bound_.end()) return named->name;
    auto& numbers = use.own_pool ? pool_ : unnamed_;
    const size_t number =
        numbers.try_emplace({use.address, use.generation}, numbers.size() + 1).first->second;
    return fmt::format("{} {}", use.own_pool ? "pool" : "unnamed", number);
  }

 private:
  using Numbers = std::map<std::pair<uintptr_t, uint64_t>, size_t>;
  const std::vector<NamedMemory>& bound_;
  Numbers pool_, unnamed_;
};

}  // namespace

RecordedStep recorded_step(const CapturedGraph& captured) {
  RecordedStep step;
  MemoryNames names(captured.bound);
  for (GraphNode& node : captured.graph->nodes()) {
    RecordedNode recorded{std::move(node.operation), {}, std::move(node.recorded_by)};
    for (Argument& argument : node.arguments) {
      RecordedArgument& added = recorded.arguments.emplace_back();
      added.name = std::move(argument.name);
      added.value = std::move(argument.text);
      if (!argument.memory) continue;
      const MemoryUse& use = *argument.memory;
      added.memory = names.of(use);
      if (!use.own_pool) added.address = use.address;
      added.bytes = use.bytes;
      added.written = use.written;
      added.read_from_host = use.host && use.read;
    }
    step.push_back(std::move(recorded));
  }
  return step;
}

std::vector<std::pair<size_t, size_t>> corresponding(const RecordedStep& a, const RecordedStep& b) {
  // length[i][j]: of the longest common subsequence of a from i on and b from j on.
  std::vector<std::vector<uint32_t>> length(a.size() + 1, std::vector<uint32_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] = a[i].operation == b[j].operation
                         ? length[i + 1][j + 1] + 1
                         : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].operation == b[j].operation) {
      pairs.emplace_back(i++, j++);
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

}  // namespace thaw
