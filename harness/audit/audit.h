// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case/case.h"
#include "device/device.h"
#include "kernels/kernels.h"
#include "subject/registry.h"

namespace thaw {

/// What a capture took from the host and will repeat at every replay (rules 33 to 35).
enum class FrozenKind : uint8_t {
  value,   ///< a host value is an argument of a node
  buffer,  ///< a node uses memory that its owner has since replaced
  branch,  ///< a node is recorded at one state and not at another
};
std::string_view to_string(FrozenKind kind);

/// The same argument at a state that differs from A in one thing.
struct FrozenElsewhere {
  std::string follows;  ///< what differs there: "the position", "the live rows"
  std::string value;
};

/// One frozen dependence.
struct Frozen {
  FrozenKind kind = FrozenKind::value;
  int64_t q_len = 1;
  size_t node = 0;                  ///< of the graph captured at A, from 1; 0: A has no such node
  std::string operation;            ///< that was recorded
  std::vector<std::string> writes;  ///< memory that it writes, by its owner's name
  std::string argument;             ///< of the operation; empty for a branch
  std::string value;                ///< at A
  std::vector<FrozenElsewhere> elsewhere;
  std::vector<std::string> recorded_by;  ///< call stack of the recording, innermost first
};

/// A node that reads pinned host memory at each replay: one address, and whatever is there then.
struct HostSource {
  int64_t q_len = 1;
  size_t node = 0;
  std::string operation;
  std::string argument;
  std::string memory;
  size_t bytes = 0;
};

/// What came out of one cache in one decoder.
struct Audit {
  std::string cache;
  std::string device;
  std::vector<Frozen> frozen;
  std::vector<HostSource> host_sources;
  std::vector<std::pair<int64_t, size_t>> nodes;  ///< per q_len compared, nodes of the graph at A
  std::vector<std::string> compared;              ///< what differed: "the position", ...
  /// What could not be compared, and why.
  std::vector<std::pair<std::string, std::string>> not_compared;

  bool clean() const { return frozen.empty(); }
  /// Whether any two captures were compared at all.
  bool complete() const { return !nodes.empty(); }
};

/// Captures the same step, for each q_len on its own, at states of the ledger that differ from one
/// state, A, in one thing at a time, and compares what was recorded. What differs was frozen.
///
/// Verifies: no argument, no address and no node of the captured step depends on the host's state,
/// as far as the states tell it. Does not verify: values that are the same at all states compared;
/// a counter in device memory that advances itself, since it records the same graph every time;
/// contents of host memory that a node reads (listed as host_sources). Needs a device that tells
/// typed arguments.
///
/// `settings` says cache, decoder, rows, layers and dtype; its cache must take 16 slots a row.
/// Throws UnknownCache.
Audit audit(const Settings& settings, Device& device, const Registry& registry,
            Kernels kernels = Kernels::registered);

/// Slots a row that the audit's states need.
constexpr int64_t slots_of_an_audit = 16;

}  // namespace thaw
