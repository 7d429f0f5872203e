// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/request_trace.h"
#include "trace/trace_lines.h"

namespace thaw {

/// The requests of a Mooncake trace (see read_trace). `lines` stands at the first of them.
std::vector<Request> read_mooncake_requests(TraceLines& lines);

}  // namespace thaw
