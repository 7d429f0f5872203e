// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "trace/request_trace.h"

namespace thaw {
namespace {

/// A request of more tokens than any model's context is a broken line, not a long request.
constexpr int64_t tokens_max = 100'000'000;
/// Enough for the names of all blocks of such a request.
constexpr size_t line_bytes_max = size_t{4} << 20;
constexpr size_t quoted_max = 40;

}  // namespace

bool TraceLines::next() {
  while (!rest_.empty()) {
    ++number_;
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    if (line_.size() > line_bytes_max) {
      fail(fmt::format("a line of {} bytes, more than {}; is this a trace?", line_.size(),
                       line_bytes_max));
    }
    if (!line_.empty()) return true;
  }
  number_ = std::max<int64_t>(number_, 1);
  line_ = {};
  return false;
}

void TraceLines::fail(std::string_view what) const {
  throw TraceError(fmt::format("{}:{}: {}", file_, number_, what));
}

int64_t TraceLines::tokens(std::string_view name, std::string_view text) const {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > tokens_max) {
    fail(fmt::format("{} must be 1 to {}, found {}; mend or remove the line", name, tokens_max,
                     quoted_bytes(text)));
  }
  return value;
}

std::string quoted_bytes(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, quoted_max)) {
    shown += (c >= ' ' && c < 127) ? std::string(1, c)
                                   : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return fmt::format("'{}'{}", shown, text.size() > quoted_max ? "..." : "");
}

}  // namespace thaw
