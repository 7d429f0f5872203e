// SPDX-License-Identifier: Apache-2.0
#include "trace/request_trace.h"

#include <fmt/format.h>

#include "trace/azure_trace.h"
#include "trace/mooncake_trace.h"
#include "trace/trace_lines.h"

namespace thaw {

RequestTrace read_trace(std::string_view text, std::string_view file) {
  TraceLines lines(text, file);
  if (text.size() > trace_bytes_max) {
    throw TraceError(fmt::format(
        "{}: larger than {} MiB; pass its beginning: head -n 100000 FILE | thaw trace -", file,
        trace_bytes_max >> 20));
  }
  if (!lines.next()) lines.fail("the file is empty; expected a trace of requests");
  RequestTrace trace;
  if (lines.line().front() == '{') {
    trace = {TraceFormat::mooncake, read_mooncake_requests(lines)};
  } else {
    trace = {TraceFormat::azure, read_azure_requests(lines)};
  }
  return trace;
}

}  // namespace thaw
