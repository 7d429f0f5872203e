// SPDX-License-Identifier: Apache-2.0
//
// thaw run - --jsonl: a whole session with the real program.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/cases.h"
#include "cli/program.h"
#include "cli/schema.h"

namespace thaw {
namespace {

using nlohmann::json;

std::string request(const json& id, const std::string& text, const std::string& cache = "") {
  json line = {{"id", id}, {"case", text}};
  if (!cache.empty()) line["cache"] = cache;
  return line.dump();
}

TEST(Worker, answers_good_and_malformed_lines_in_order_and_ends_well) {
  Sandbox box;
  const std::string input = request(1, clean_case) + "\n" +                        //
                            "\n" +                                                 //
                            "not json\r\n" +                                       //
                            request("frozen", frozen_case) + "\r\n" +              //
                            request(3, expected_case, "static") + "\n" +           //
                            request(4, broken_case) + "\n" +                       //
                            request(5, clean_case, "statik") + "\n" +              //
                            R"({"id": 6, "case": "thaw case 1\n", "cash": ""})" +  //
                            "\n[]\n{}\n{\"id\": \"\xff\"}\n" +                     //
                            request(7, needs_cuda_case);
  const Finished run = box.run({"run", "-", "--jsonl"}, {.text = input});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  expect_text("worker.jsonl", run.out);
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    const auto errors = schema_errors(json::parse(line), "worker.schema.json#/$defs/response");
    EXPECT_TRUE(errors.empty()) << line << "\n" << errors.front();
  }
}

TEST(Worker, answers_each_request_before_the_next_is_sent) {
  Sandbox box;
  Conversation worker(box, {"run", "-", "--jsonl"});
  for (int id = 1; id <= 3; ++id) {
    worker.say(request(id, clean_case));
    const std::string answer = worker.hear();
    ASSERT_FALSE(answer.empty());
    EXPECT_EQ(json::parse(answer)["id"], id);
    EXPECT_EQ(json::parse(answer)["result"]["outcome"], "ok");
  }
  EXPECT_EQ(worker.finish(), 0);
}

TEST(Worker, the_same_request_gets_the_same_bytes_after_any_other) {
  Sandbox box;
  const std::string asked = request(1, frozen_case);
  const Finished run = box.run(
      {"run", "-", "--jsonl"},
      {.text = asked + "\n" + request(2, clean_case, "counter:device_in_place") + "\n" + asked});
  std::istringstream lines(run.out);
  std::vector<json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]["result"], answers[2]["result"]);
}

TEST(Worker, flags_of_the_command_line_hold_where_a_request_says_nothing) {
  Sandbox box;
  const Finished run =
      box.run({"run", "-", "--jsonl", "--cache", "counter:cpu_scalar", "--kernels", "torch"},
              {.text = request(1, clean_case) + "\n" +
                       R"({"case": "thaw case 1\n", "cache": "static", "kernels": "registered"})"});
  std::istringstream lines(run.out);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const json of_flags = json::parse(line)["result"]["runs"][0];
  EXPECT_EQ(of_flags["cache"], "counter:cpu_scalar");
  EXPECT_EQ(of_flags["kernels"], "torch");
  ASSERT_TRUE(std::getline(lines, line));
  const json own = json::parse(line)["result"]["runs"][0];
  EXPECT_EQ(own["cache"], "static");
  EXPECT_EQ(own["kernels"], "registered");
}

TEST(Worker, a_request_fits_the_schema_and_a_misspelt_one_does_not) {
  const char* form = "worker.schema.json#/$defs/request";
  EXPECT_TRUE(schema_errors(json::parse(request(1, clean_case, "static")), form).empty());
  EXPECT_FALSE(schema_errors(json::parse(R"({"id": 1})"), form).empty());
  EXPECT_FALSE(schema_errors(json::parse(R"({"case": "", "cash": ""})"), form).empty());
}

}  // namespace
}  // namespace thaw
