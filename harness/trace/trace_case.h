// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "case/case.h"
#include "trace/request_trace.h"

namespace thaw {

constexpr int64_t trace_slots_max = 4096;

/// How requests become a case.
struct TraceOptions {
  int64_t rows = 8;              ///< 1 to 16: requests served at a time
  int64_t scale = 1;             ///< lengths are divided by it and rounded up
  std::optional<int64_t> slots;  ///< per row, 2 to trace_slots_max; empty: what the longest needs
  std::string cache = "static";
  DecoderKind decoder = DecoderKind::tag;
  int64_t layers = 1;
  int64_t warmups = 3;  ///< throw-away passes before the capture, as serving stacks make them
};

/// A length of the trace as the case has it: divided by `scale` and rounded up.
int64_t scaled_tokens(int64_t tokens, int64_t scale);

/// A trace as a serving loop would run it: requests take free rows in order of arrival; a request
/// is a prefill, then one captured step a token for all live rows together, then a reset of its
/// row. After the first prefills come the warm-ups and the one capture that serves the whole trace.
///
/// Throws TraceError, naming the request's line, if one needs more slots than there are or than a
/// case can have; and if the case would be longer than cases can be.
Case trace_case(std::span<const Request> requests, const TraceOptions& options,
                std::string_view file);

/// Which request, by its index in order of arrival, `row` holds at the `op`-th op, from 1, of a
/// case that trace_case made.
size_t request_at(const Case& c, int64_t op, int64_t row);

}  // namespace thaw
