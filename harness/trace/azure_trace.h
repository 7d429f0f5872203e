// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trace/request_trace.h"
#include "trace/trace_lines.h"

namespace thaw {

/// The requests of an Azure trace (see read_trace). `lines` stands at the header.
std::vector<Request> read_azure_requests(TraceLines& lines);

}  // namespace thaw
