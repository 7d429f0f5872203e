// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace thaw {
namespace {

constexpr std::chrono::milliseconds between_updates{100};
constexpr std::string_view clear_line = "\r\x1b[K";

}  // namespace

TraceProgress::TraceProgress(size_t requests, std::FILE* to)
    : to_(to), on_terminal_(isatty(fileno(to)) == 1), requests_(requests) {
  if (on_terminal_) show(begin_);
}

void TraceProgress::after(const Moment& moment, Findings& /*findings*/) {
  if (!on_terminal_) return;
  if (moment.op.kind == OpKind::reset) ++done_;
  if (moment.committed) {
    const auto stepped = std::count_if(moment.plan->rows.begin(), moment.plan->rows.end(),
                                       [](int64_t row) { return row >= 0; });
    tokens_ += stepped * moment.plan->q_len;
  }
  const Clock::time_point now = Clock::now();
  if (now - shown_ >= between_updates) show(now);
}

void TraceProgress::finish() {
  if (on_terminal_) fmt::print(to_, "{}", clear_line);
}

void TraceProgress::show(Clock::time_point now) {
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  fmt::print(to_, "{}{} of {} requests, {} %, {:.0f} tokens/s", clear_line, done_, requests_,
             100 * done_ / requests_, seconds > 0 ? static_cast<double>(tokens_) / seconds : 0.0);
  std::fflush(to_);
}

}  // namespace thaw
