// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "case/op_table.h"

namespace thaw {
namespace {

constexpr const char* graph = "g";

int64_t slots_of(const Request& request, int64_t scale) {
  return scaled_tokens(request.prompt, scale) + scaled_tokens(request.generated, scale);
}

/// The smallest scale from `scale` on at which every request takes at most `slots`; at least two.
int64_t scale_that_fits(std::span<const Request> requests, int64_t scale, int64_t slots) {
  for (const Request& request : requests) {
    scale = std::max(scale, (request.prompt + request.generated) / slots);
    while (slots_of(request, scale) > slots) ++scale;
  }
  return scale;
}

int64_t slots_for(std::span<const Request> requests, const TraceOptions& options,
                  std::string_view file) {
  const int64_t most = options.slots.value_or(trace_slots_max);
  int64_t needed = 1;
  for (const Request& request : requests) {
    const int64_t slots = slots_of(request, options.scale);
    if (slots > most) {
      throw TraceError(fmt::format(
          "{}:{}: the request needs {} slots at scale {}, more than {}; --scale {} is the smallest "
          "at which all requests fit",
          file, request.line, slots, options.scale, most,
          scale_that_fits(requests, options.scale, most)));
    }
    needed = std::max(needed, slots);
  }
  return options.slots.value_or(needed);
}

/// Deals requests to rows and writes down what a serving loop does.
class Schedule {
 public:
  Schedule(std::span<const Request> requests, const TraceOptions& options, std::string_view file,
           Case& c)
      : requests_(requests), options_(options), file_(file), case_(c) {
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
    if (op.times == 0) return;
    steps_ += op_row(op.kind).makes_steps ? op.times : 0;
    case_.ops.emplace_back().value = std::move(op);
    if (static_cast<int64_t>(case_.ops.size()) <= ops_max && steps_ <= steps_max) return;
    throw TraceError(
        fmt::format("{}: the first {} requests alone are more than the {} ops and {} steps that a "
                    "case can have; use a smaller --requests or a larger --scale",
                    file_, next_, ops_max, steps_max));
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
  std::string_view file_;
  Case& case_;
  int64_t steps_ = 0;
  size_t next_ = 0;
  std::vector<int64_t> left_;  ///< tokens still to generate, by row; 0: the row is free
};

}  // namespace

int64_t scaled_tokens(int64_t tokens, int64_t scale) { return (tokens + scale - 1) / scale; }

Case trace_case(std::span<const Request> requests, const TraceOptions& options,
                std::string_view file) {
  Case c;
  c.settings.cache = options.cache;
  c.settings.decoder = options.decoder;
  c.settings.layers = options.layers;
  c.settings.rows = options.rows;
  c.settings.slots = slots_for(requests, options, file);
  Schedule(requests, options, file, c).run();
  return c;
}

size_t request_at(const Case& c, int64_t op, int64_t row) {
  size_t prefills = 0, last = 0;
  for (const Line<Op>& line : std::span(c.ops).first(static_cast<size_t>(op))) {
    if (line.value.kind != OpKind::prefill) continue;
    if (line.value.row == row) last = prefills;
    ++prefills;
  }
  return last;
}

}  // namespace thaw
