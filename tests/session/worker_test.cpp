// SPDX-License-Identifier: Apache-2.0
//
// The worker protocol without a device: lines in, lines out.

#include "session/worker.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace thaw {
namespace {

using Json = nlohmann::ordered_json;

/// Serves `input` with answers that repeat what was asked, and returns the responses.
std::vector<Json> serve(const std::string& input, size_t line_bytes_max = request_bytes_max) {
  std::istringstream in(input);
  std::ostringstream out;
  const auto echo = [](const WorkerRequest& request) -> Json {
    if (request.case_text == "bad") throw WorkerError("bad_case", "no good", "mend it");
    Json answer = {{"case", request.case_text}, {"cache", request.cache}};
    if (request.kernels) answer["torch"] = *request.kernels == Kernels::torch;
    return answer;
  };
  EXPECT_TRUE(serve_requests(in, out, echo, line_bytes_max));
  std::vector<Json> responses;
  std::istringstream lines(out.str());
  for (std::string line; std::getline(lines, line);) responses.push_back(Json::parse(line));
  return responses;
}

std::string error_kind(const Json& response) { return response["error"]["kind"]; }

TEST(WorkerProtocol, a_response_carries_id_line_and_result) {
  const auto responses =
      serve(R"({"id": [1, "a"], "case": "x", "cache": "c", "kernels": "torch"})");
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].dump(),
            R"({"id":[1,"a"],"line":1,"result":{"case":"x","cache":"c","torch":true}})");
}

TEST(WorkerProtocol, no_input_is_no_output) {
  EXPECT_TRUE(serve("").empty());
  EXPECT_TRUE(serve("\n\r\n  \t\n").empty());
}

TEST(WorkerProtocol, lines_end_with_LF_or_CRLF_or_the_input_and_empty_ones_count_but_say_nothing) {
  const auto responses = serve("{\"case\":\"a\"}\r\n\r\n\n{\"case\":\"b\"}\n{\"case\":\"c\"}");
  ASSERT_EQ(responses.size(), 3U);
  EXPECT_EQ(responses[0]["line"], 1);
  EXPECT_EQ(responses[1]["line"], 4);
  EXPECT_EQ(responses[2]["line"], 5);
  EXPECT_EQ(responses[2]["result"]["case"], "c");
}

TEST(WorkerProtocol, a_malformed_line_gets_an_error_and_the_worker_goes_on) {
  const std::vector<std::string> malformed = {
      "{",
      "nonsense",
      "{\"case\": \"\xff\"}",
      "null",
      "[]",
      "{}",
      "{\"case\": 1}",
      "{\"case\": \"a\", \"cache\": []}",
      "{\"case\": \"a\", \"kernels\": \"fast\"}",
      "{\"case\": \"a\", \"kernel\": \"torch\"}",
      std::string(100'000, '['),
      std::string("\0", 1),
  };
  for (const std::string& line : malformed) {
    const auto responses = serve(line + "\n{\"id\": 2, \"case\": \"good\"}\n");
    ASSERT_EQ(responses.size(), 2U) << line.substr(0, 80);
    EXPECT_EQ(error_kind(responses[0]), "bad_request") << line.substr(0, 80);
    EXPECT_FALSE(responses[0]["error"]["message"].empty());
    EXPECT_FALSE(responses[0]["error"]["remedy"].empty());
    EXPECT_EQ(responses[0]["line"], 1);
    EXPECT_EQ(responses[1]["result"]["case"], "good");
  }
}

TEST(WorkerProtocol, an_error_in_the_request_still_carries_its_id) {
  EXPECT_EQ(serve(R"({"id": 7})")[0]["id"], 7);
  EXPECT_EQ(serve(R"({"id": 7, "case": "bad"})")[0]["id"], 7);
}

TEST(WorkerProtocol, what_the_answer_throws_is_the_error_of_that_line) {
  const auto responses = serve("{\"case\": \"bad\"}\n{\"case\": \"good\"}\n");
  ASSERT_EQ(responses.size(), 2U);
  EXPECT_EQ(responses[0]["error"].dump(),
            R"({"kind":"bad_case","message":"no good","remedy":"mend it"})");
  EXPECT_TRUE(responses[1].contains("result"));
}

TEST(WorkerProtocol, a_line_of_exactly_the_bound_is_read_and_one_byte_more_is_skipped) {
  const std::string line = R"({"case":"abc"})";
  EXPECT_TRUE(serve(line + "\n", line.size())[0].contains("result"));
  const auto responses = serve(line + " \n" + line + "\n" + line + " ", line.size());
  ASSERT_EQ(responses.size(), 3U);
  EXPECT_EQ(error_kind(responses[0]), "bad_request");
  EXPECT_TRUE(responses[1].contains("result"));
  EXPECT_EQ(error_kind(responses[2]), "bad_request");
}

TEST(WorkerProtocol, ends_where_responses_cannot_be_written) {
  std::istringstream in("{\"case\": \"a\"}\n{\"case\": \"b\"}\n");
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  int asked = 0;
  EXPECT_FALSE(serve_requests(in, out, [&](const WorkerRequest&) {
    ++asked;
    return Json();
  }));
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace thaw
