// SPDX-License-Identifier: Apache-2.0
#include "trace/request_trace.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

namespace thaw {
namespace {

/// A request of more tokens than any model's context is a broken line, not a long request.
constexpr int64_t tokens_max = 100'000'000;
constexpr size_t quoted_max = 40;

[[noreturn]] void fail(std::string_view file, int64_t line, std::string_view what) {
  throw TraceError(fmt::format("{}:{}: {}", file, line, what));
}

/// What a message may show of a file that could hold anything.
std::string quoted(std::string_view text) {
  std::string shown;
  for (const char c : text.substr(0, quoted_max)) {
    shown += (c >= ' ' && c < 127) ? std::string(1, c)
                                   : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return fmt::format("'{}'{}", shown, text.size() > quoted_max ? "..." : "");
}

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::optional<std::string_view> field(std::string_view line, size_t index) {
  for (; index > 0; --index) {
    const size_t comma = line.find(',');
    if (comma == std::string_view::npos) return {};
    line.remove_prefix(comma + 1);
  }
  return line.substr(0, line.find(','));
}

size_t column(std::string_view header, std::string_view name, std::string_view file) {
  for (size_t index = 0;; ++index) {
    const auto title = field(header, index);
    if (!title) {
      fail(file, 1,
           fmt::format("no column {} in {}; expected the header of an Azure LLM inference trace: "
                       "TIMESTAMP,ContextTokens,GeneratedTokens",
                       name, quoted(header)));
    }
    if (*title == name) return index;
  }
}

int64_t tokens(std::string_view line, size_t index, std::string_view name, std::string_view file,
               int64_t number) {
  const auto text = field(line, index);
  if (!text) fail(file, number, fmt::format("no {} in {}", name, quoted(line)));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 1 ||
      value > tokens_max) {
    fail(file, number,
         fmt::format("{} must be 1 to {}, found {}; mend or remove the line", name, tokens_max,
                     quoted(*text)));
  }
  return value;
}

}  // namespace

std::vector<Request> read_azure_trace(std::string_view text, std::string_view file) {
  const std::string_view header = take_line(text);
  const size_t prompt = column(header, "ContextTokens", file);
  const size_t generated = column(header, "GeneratedTokens", file);
  std::vector<Request> requests;
  for (int64_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    requests.push_back({.prompt = tokens(line, prompt, "ContextTokens", file, number),
                        .generated = tokens(line, generated, "GeneratedTokens", file, number),
                        .line = number});
  }
  if (requests.empty()) fail(file, 1, "no requests; expected one a line below the header");
  return requests;
}

}  // namespace thaw
