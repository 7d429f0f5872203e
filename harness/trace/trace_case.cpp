// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace thaw {
namespace {

constexpr int64_t slots_max = 4096;
constexpr const char* graph = "g";

int64_t slots_for(std::span<const Request> requests, const TraceOptions& options,
                  std::string_view file) {
  int64_t needed = 1;
  for (const Request& request : requests) {
    const int64_t slots = scaled_tokens(request.prompt, options.scale) +
                          scaled_tokens(request.generated, options.scale);
    if (slots > options.slots.value_or(slots_max)) {
      throw TraceError(fmt::format(
          "{}:{}: the request needs {} slots at scale {}, more than {}; use a larger --scale{}",
          file, request.line, slots, options.scale, options.slots.value_or(slots_max),
          options.slots ? " or more --slots" : ""));
    }
    needed = std::max(needed, slots);
  }
  return options.slots.value_or(needed);
}

/// Deals requests to rows and writes down what a serving loop does.
class Schedule {
 public:
  Schedule(std::span<const Request> requests, const TraceOptions& options, Case& c)
      : requests_(requests), options_(options), case_(c) {
    left_.assign(static_cast<size_t>(options.rows), 0);
  }

  void run() {
    admit();
    add({.kind = OpKind::warmup, .times = options_.warmups});
    add({.kind = OpKind::capture, .graph = graph});
    while (step()) admit();
  }

 private:
  void add(Op op) {
    if (op.times > 0) case_.ops.emplace_back().value = std::move(op);
  }

  void admit() {
    for (size_t row = 0; row < left_.size() && next_ < requests_.size(); ++row) {
      if (left_[row] > 0) continue;
      const Request& request = requests_[next_++];
      add({.kind = OpKind::prefill,
           .row = static_cast<int64_t>(row),
           .count = scaled_tokens(request.prompt, options_.scale)});
      left_[row] = scaled_tokens(request.generated, options_.scale);
    }
  }

  /// Replays until the next request is done; false if there is none.
  bool step() {
    int64_t steps = 0;
    for (const int64_t left : left_) {
      if (left > 0) steps = steps == 0 ? left : std::min(steps, left);
    }
    if (steps == 0) return false;
    add({.kind = OpKind::replay, .times = steps, .graph = graph});
    for (size_t row = 0; row < left_.size(); ++row) {
      if (left_[row] == 0) continue;
      left_[row] -= steps;
      if (left_[row] == 0) add({.kind = OpKind::reset, .row = static_cast<int64_t>(row)});
    }
    return true;
  }

  std::span<const Request> requests_;
  const TraceOptions& options_;
  Case& case_;
  size_t next_ = 0;
  std::vector<int64_t> left_;  ///< tokens still to generate, by row; 0: the row is free
};

}  // namespace

int64_t scaled_tokens(int64_t tokens, int64_t scale) { return (tokens + scale - 1) / scale; }

Case trace_case(std::span<const Request> requests, const TraceOptions& options,
                std::string_view file) {
  Case c;
  c.settings.cache = options.cache;
  c.settings.layers = options.layers;
  c.settings.rows = options.rows;
  c.settings.slots = slots_for(requests, options, file);
  Schedule(requests, options, c).run();
  return c;
}

}  // namespace thaw
