// SPDX-License-Identifier: Apache-2.0
#include "trace/mooncake_trace.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace thaw {
namespace {

using nlohmann::json;

/// An object with lists in it; anything deeper is no request, and could be deep without end.
constexpr int depth_max = 4;
constexpr uint64_t block_name_max = std::numeric_limits<int64_t>::max();

json parse_object(const TraceLines& lines) {
  const auto shallow = [&](int depth, json::parse_event_t /*event*/, json& /*value*/) {
    if (depth > depth_max) lines.fail("lists or objects nested too deep; mend or remove the line");
    return true;
  };
  try {
    json object = json::parse(lines.line(), shallow);
    if (object.is_object()) return object;
  } catch (const json::parse_error& e) {
    lines.fail(
        fmt::format("not a whole JSON object: it breaks at byte {} of {}; mend or remove "
                    "the line",
                    e.byte, quoted_bytes(lines.line())));
  } catch (const json::out_of_range&) {
    lines.fail("a number that is too large; mend or remove the line");
  }
  lines.fail(fmt::format("expected a JSON object, found {}", quoted_bytes(lines.line())));
}

int64_t tokens(const TraceLines& lines, const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) {
    lines.fail(
        fmt::format("no {} in {}; expected the lines of a Mooncake trace: "
                    "{{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, "
                    "\"hash_ids\": [0]}}",
                    name, quoted_bytes(lines.line())));
  }
  // As text: a fraction, a string and a number beyond all integers are refused alike.
  return lines.tokens(name, found->dump(-1, ' ', false, json::error_handler_t::replace));
}

std::vector<int64_t> blocks(const TraceLines& lines, const json& object) {
  std::vector<int64_t> names;
  const auto found = object.find("hash_ids");
  if (found == object.end()) return names;
  const auto refuse = [&] {
    lines.fail("hash_ids must be a list of integers from 0; mend or remove the line");
  };
  if (!found->is_array()) refuse();
  for (const json& name : *found) {
    if (!name.is_number_unsigned() || name.get<uint64_t>() > block_name_max) refuse();
    names.push_back(name.get<int64_t>());
  }
  return names;
}

}  // namespace

std::vector<Request> read_mooncake_requests(TraceLines& lines) {
  std::vector<Request> requests;
  do {
    const json object = parse_object(lines);
    requests.push_back({.prompt = tokens(lines, object, "input_length"),
                        .generated = tokens(lines, object, "output_length"),
                        .line = lines.number(),
                        .blocks = blocks(lines, object)});
  } while (lines.next());
  return requests;
}

}  // namespace thaw
