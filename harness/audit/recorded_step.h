// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "subject/subject.h"

namespace thaw {

/// One argument of a recorded operation, in terms that can be compared between two captures, also
/// of two runs.
struct RecordedArgument {
  std::string name;   ///< as in the operator's schema
  std::string value;  ///< "8", "[0, 1]"; for a tensor its dtype, sizes, strides and offset
  /// The memory by its owner's name ("cache.keys[0]"), "pool 2" for the second that the capture
  /// allocated itself, "unnamed 1" for what no owner knows; empty for a host value.
  std::string memory;
  uintptr_t address = 0;  ///< 0 for a host value and for memory of the graph's own pool
  size_t bytes = 0;
  bool written = false;
  bool read_from_host = false;  ///< read from pinned host memory at each replay
};

struct RecordedNode {
  std::string operation;
  std::vector<RecordedArgument> arguments;
  std::vector<std::string> recorded_by;  ///< innermost first; empty unless the device noted it
};

/// A captured step as a list of what the device will do, in the order of recording.
using RecordedStep = std::vector<RecordedNode>;

RecordedStep recorded_step(const CapturedGraph& captured);

/// Which nodes of two captures correspond: a longest common subsequence of their operations.
/// Pairs of indices into `a` and `b`, rising in both.
std::vector<std::pair<size_t, size_t>> corresponding(const RecordedStep& a, const RecordedStep& b);

}  // namespace thaw
