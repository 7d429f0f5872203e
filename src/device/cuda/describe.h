// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/device.h"

namespace thaw::cuda {

/// The memory that an address lies in, if the address is one of memory that is known.
using FindMemory = std::function<std::optional<MemoryUse>(uintptr_t)>;

/// The nodes of a captured graph, from CUDA's graph interface.
///
/// A kernel's parameters have no types (rule 63). One of up to eight bytes is shown as an integer;
/// a longer one, a structure, as its words of eight bytes, "parameter 0, bytes 16 to 23". Whatever
/// holds an address of known memory is taken for it. Padding inside structures shows too, with
/// whatever bytes it has.
/// Throws DeviceError.
std::vector<GraphNode> describe(cudaGraph_t graph, const FindMemory& find);

/// One parameter of a kernel; `describe` for its parts.
void describe_parameter(size_t index, std::span<const std::byte> bytes, const FindMemory& find,
                        std::vector<Argument>& arguments);

}  // namespace thaw::cuda
