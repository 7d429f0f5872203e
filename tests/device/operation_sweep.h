// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>

#include "device/device.h"
#include "operation_table.h"

namespace thaw::test {

/// The inputs of the sweep, drawn from a seed, on the CPU.
Inputs make_inputs(at::ScalarType type, uint64_t seed);

/// Whether CPU LibTorch has the operation for the dtype.
bool cpu_has(const Operation& operation, at::ScalarType type);

/// Runs an operation on the CPU; eagerly on the device; and as a graph that is replayed three
/// times, with other inputs in between. All must give the same bytes, sizes and strides, in results
/// and in arguments; the capture must change nothing; and all memory of the graph must be live.
/// Returns what was wrong, or nothing. Adds the names of the recorded operators to `recorded`.
std::string find_difference(Device& device, const Operation& operation, at::ScalarType type,
                            std::set<std::string>* recorded = nullptr);

/// What was wrong when the operation ran on the CPU and eagerly on the device, or nothing.
std::string find_eager_difference(Device& device, const Operation& operation, at::ScalarType type);

}  // namespace thaw::test
