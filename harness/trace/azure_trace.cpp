// SPDX-License-Identifier: Apache-2.0
#include "trace/azure_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace thaw {
namespace {

constexpr std::string_view prompt_title = "ContextTokens", generated_title = "GeneratedTokens";

std::vector<std::string_view> fields(std::string_view line) {
  std::vector<std::string_view> found;
  for (;;) {
    const size_t comma = line.find(',');
    found.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return found;
    line.remove_prefix(comma + 1);
  }
}

size_t column(const TraceLines& lines, std::string_view title) {
  const auto titles = fields(lines.line());
  const auto found = std::find(titles.begin(), titles.end(), title);
  if (found == titles.end()) {
    lines.fail(
        fmt::format("no column {} in {}; expected a trace of requests: the header of an "
                    "Azure LLM inference trace (TIMESTAMP,{},{}), or the JSON lines of a "
                    "Mooncake trace",
                    title, quoted_bytes(lines.line()), prompt_title, generated_title));
  }
  return static_cast<size_t>(found - titles.begin());
}

}  // namespace

std::vector<Request> read_azure_requests(TraceLines& lines) {
  const size_t prompt = column(lines, prompt_title);
  const size_t generated = column(lines, generated_title);
  const size_t columns = fields(lines.line()).size();
  std::vector<Request> requests;
  while (lines.next()) {
    const auto values = fields(lines.line());
    if (values.size() != columns) {
      lines.fail(fmt::format("{} fields in {}, the header has {}; mend or remove the line",
                             values.size(), quoted_bytes(lines.line()), columns));
    }
    requests.push_back({.prompt = lines.tokens(prompt_title, values[prompt]),
                        .generated = lines.tokens(generated_title, values[generated]),
                        .line = lines.number(),
                        .blocks = {}});
  }
  if (requests.empty()) lines.fail("no requests; expected one a line below the header");
  return requests;
}

}  // namespace thaw
