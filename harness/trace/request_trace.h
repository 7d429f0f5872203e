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
};

/// A trace that cannot be read: "FILE:LINE: what is wrong; what to do".
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the request traces of the Azure LLM inference dataset: comma-separated, a header line that
/// names the columns ContextTokens and GeneratedTokens, one request a line in order of arrival.
/// All of the file is read before anything is returned: a broken line imports nothing. `file` is
/// only for messages. Throws TraceError.
std::vector<Request> read_azure_trace(std::string_view text, std::string_view file);

}  // namespace thaw
