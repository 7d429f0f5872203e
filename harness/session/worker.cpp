// SPDX-License-Identifier: Apache-2.0
#include "session/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <ostream>
#include <string_view>

#include "session/case_result.h"

namespace thaw {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> request_keys = {"id", "case", "cache", "kernels"};
constexpr std::string_view request_form =
    R"(send one object a line: {"id": 1, "case": "thaw case 1\n...", "cache": "static"})";

WorkerError bad_request(const std::string& message, std::string remedy) {
  return {"bad_request", message, std::move(remedy)};
}

enum class LineState { read, too_long, end };

/// Reads a line without its end, LF or CRLF. Of one that is too long the rest is skipped.
LineState read_line(std::istream& in, size_t bytes_max, std::string& line) {
  constexpr int end_of_file = std::char_traits<char>::eof();
  std::streambuf& bytes = *in.rdbuf();
  line.clear();
  int byte = bytes.sbumpc();
  if (byte == end_of_file) return LineState::end;
  bool too_long = false;
  for (; byte != end_of_file && byte != '\n'; byte = bytes.sbumpc()) {
    too_long = too_long || line.size() == bytes_max;
    if (!too_long) line.push_back(static_cast<char>(byte));
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return too_long ? LineState::too_long : LineState::read;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

Json parse(const std::string& line) {
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& e) {
    throw bad_request(fmt::format("not JSON: byte {} cannot stand there", e.byte),
                      std::string(request_form));
  }
}

std::string text_of(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  throw bad_request(fmt::format("'{}' is not a string", key), std::string(request_form));
}

void check_keys(const Json& request) {
  for (const auto& [key, value] : request.items()) {
    if (std::find(request_keys.begin(), request_keys.end(), key) != request_keys.end()) continue;
    throw bad_request(fmt::format("unknown key '{}'", key),
                      fmt::format("the keys are {}", fmt::join(request_keys, ", ")));
  }
  if (request.find("case") == request.end()) {
    throw bad_request("there is no 'case'", std::string(request_form));
  }
}

WorkerRequest to_request(const Json& json) {
  check_keys(json);
  WorkerRequest request{.id = json.value("id", Json()),
                        .case_text = text_of(json, "case"),
                        .cache = text_of(json, "cache"),
                        .kernels = {}};
  if (const std::string name = text_of(json, "kernels"); !name.empty()) {
    request.kernels = parse_kernels(name);
    if (!request.kernels) {
      throw bad_request(fmt::format("unknown kernels '{}'", name), "use registered or torch");
    }
  }
  return request;
}

Json error_json(const WorkerError& error) {
  return {{"kind", error.kind()}, {"message", error.what()}, {"remedy", error.remedy()}};
}

/// Fills in the response to one line; its `id` is set as soon as it is known.
void respond(const std::string& line, const Answer& answer, Json& response) {
  const Json json = parse(line);
  if (!json.is_object()) throw bad_request("not an object", std::string(request_form));
  response["id"] = json.value("id", Json());
  response["result"] = answer(to_request(json));
}

}  // namespace

bool serve_requests(std::istream& in, std::ostream& out, const Answer& answer,
                    size_t line_bytes_max) {
  std::string line;
  for (int64_t number = 1;; ++number) {
    const LineState state = read_line(in, line_bytes_max, line);
    if (state == LineState::end) return true;
    if (state == LineState::read && is_blank(line)) continue;
    Json response = {{"id", nullptr}, {"line", number}};
    try {
      if (state == LineState::too_long) {
        throw bad_request(fmt::format("the line has more than {} bytes", line_bytes_max),
                          "send a smaller case");
      }
      respond(line, answer, response);
    } catch (const WorkerError& error) {
      response["error"] = error_json(error);
    }
    out << response.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
    if (!out) return false;
  }
}

}  // namespace thaw
