// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace thaw {

/// One request as a serving system saw it, in tokens.
struct Request {
  int64_t prompt = 0;     ///< at least 1
  int64_t generated = 0;  ///< at least 1
  int64_t line = 0;       ///< where it stands in the file, from 1
  std::vector<int64_t>
      blocks;  ///< names of the prompt's blocks of tokens, where the trace has them
};

enum class TraceFormat { azure, mooncake };

/// Requests in order of arrival.
struct RequestTrace {
  TraceFormat format = TraceFormat::azure;
  std::vector<Request> requests;  ///< at least one
};

/// A trace that cannot be read or run: "FILE:LINE: what is wrong; what to do".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr size_t trace_bytes_max = size_t{256} << 20;

/// Reads a trace in one of two formats, recognised by its first line:
///
/// - the Azure LLM inference dataset: comma-separated, a header that names the columns
///   ContextTokens and GeneratedTokens, one request a line;
/// - Mooncake traces: a JSON object a line, with input_length, output_length and, where prefixes
///   are shared, hash_ids: the names of the prompt's blocks, equal where all tokens up to the
///   block's end are.
///
/// All of the text is read before anything is returned: a broken line imports nothing. `file` is
/// only for messages. Throws TraceError.
RequestTrace read_trace(std::string_view text, std::string_view file);

}  // namespace thaw
