// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/kernels.h"

namespace thaw {

/// The worker protocol (docs/worker-protocol.md): one request a line in, one response a line out,
/// in order. Whoever runs cases elsewhere, in another process or on another machine, speaks it.

/// {"id": ..., "case": "thaw case 1\n...", "cache": "static", "kernels": "torch"}; all but the case
/// may be left out.
struct WorkerRequest {
  nlohmann::ordered_json id;  ///< whatever the client sent; comes back with the response
  std::string case_text;
  std::string cache;  ///< empty: the case's own and those that its expects name
  std::optional<Kernels> kernels;
};

/// A request that cannot be answered with a result. The kinds are bad_request, bad_case and
/// harness_failed.
class WorkerError : public std::runtime_error {
 public:
  WorkerError(std::string kind, const std::string& message, std::string remedy)
      : std::runtime_error(message), kind_(std::move(kind)), remedy_(std::move(remedy)) {}
  const std::string& kind() const { return kind_; }
  const std::string& remedy() const { return remedy_; }

 private:
  std::string kind_;
  std::string remedy_;
};

/// The longest request line, in bytes; longer ones are skipped and answered with an error.
constexpr size_t request_bytes_max = size_t{64} << 20;

/// Answers a request with the schema's `result`, or throws WorkerError.
using Answer = std::function<nlohmann::ordered_json(const WorkerRequest&)>;

/// Serves requests until the input ends. Each response is flushed before the next request is read.
/// A line that is no request gets an error with its number, and the worker goes on; empty lines
/// are skipped. False if responses could not be written.
bool serve_requests(std::istream& in, std::ostream& out, const Answer& answer,
                    size_t line_bytes_max = request_bytes_max);

}  // namespace thaw
