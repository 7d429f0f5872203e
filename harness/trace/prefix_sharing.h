// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trace/request_trace.h"

namespace thaw {

/// How much of their prompts the requests of a trace have in common, counted in blocks. A run
/// prefills every prompt in full; this says what a cache that shares prefixes could save.
struct PrefixSharing {
  int64_t blocks = 0;       ///< 0: the trace does not name them
  int64_t seen_before = 0;  ///< of an earlier request
  int64_t in_prefixes = 0;  ///< seen before, as were all blocks before them: what can be shared
  int64_t requests = 0;     ///< that begin with a block seen before
};

PrefixSharing prefix_sharing(std::span<const Request> requests);

}  // namespace thaw
