// SPDX-License-Identifier: Apache-2.0
//
// Help, version, lists, and how text looks on a terminal and elsewhere.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/cases.h"
#include "cli/program.h"

namespace thaw {
namespace {

using nlohmann::json;

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Help, every_command_has_help_with_examples_in_a_hundred_columns) {
  Sandbox box;
  for (const std::string command : {"", "reproduce", "run", "trace", "list"}) {
    std::vector<std::string> arguments = {"--help"};
    if (!command.empty()) arguments.insert(arguments.begin(), command);
    const Finished run = box.run(arguments);
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("Examples:\n  thaw "), std::string::npos) << run.out;
    expect_narrow(run.out);
  }
}

TEST(Help, version_names_thaw_libtorch_and_compiler) {
  Sandbox box;
  const Finished run = box.run({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out.find("thaw 0."), 0U) << run.out;
  EXPECT_NE(run.out.find("(LibTorch 2."), std::string::npos) << run.out;
  EXPECT_EQ(run.out.back(), '\n');
}

TEST(List, every_list_is_text_of_a_hundred_columns) {
  Sandbox box;
  for (const std::string list : {"ops", "oracles", "kinds", "keys"}) {
    const Finished run = box.run({"list", list});
    EXPECT_EQ(run.status, 0);
    EXPECT_GT(run.out.size(), 200U);
    expect_narrow(run.out);
  }
}

TEST(List, caches_are_told_apart_by_whether_they_are_wrong_on_purpose_in_text_and_json) {
  Sandbox box;
  const std::string text = box.run({"list", "caches"}).out;
  expect_text("list_caches.txt", text);
  const json document = json::parse(box.run({"list", "caches", "--json"}).out);
  EXPECT_EQ(document["list"], "caches");
  ASSERT_FALSE(document["items"].empty());
  for (const json& item : document["items"]) {
    const std::string name = item["name"];
    if (name == "static") EXPECT_FALSE(item.contains("faulty"));
    if (name.rfind("counter:", 0) == 0) EXPECT_TRUE(item.contains("faulty")) << name;
    EXPECT_NE(("\n" + text).find("\n" + name + "\n"), std::string::npos) << name;
  }
}

// That a file gets none, tests/cli/expected shows.
TEST(Colours, are_shown_on_a_terminal) {
  Sandbox box;
  box.write("frozen.kv", frozen_case);
  const Finished shown = box.run_on_terminal({"run", "frozen.kv"}, 80);
  EXPECT_EQ(shown.status, 1);
  EXPECT_NE(shown.out.find("\x1b[1;31mFAILED"), std::string::npos) << shown.out;
}

TEST(Colours, are_not_shown_where_NO_COLOR_is_set) {
  Sandbox box;
  box.write("frozen.kv", frozen_case);
  const Finished plain =
      box.run_on_terminal({"run", "frozen.kv"}, 80, {.environment = {"NO_COLOR=1"}});
  EXPECT_EQ(plain.status, 1);
  EXPECT_EQ(plain.out.find('\x1b'), std::string::npos) << plain.out;
}

TEST(Width, text_is_laid_out_for_the_terminal_that_shows_it) {
  Sandbox box;
  box.write("frozen.kv", frozen_case);
  const Finished narrow =
      box.run_on_terminal({"run", "frozen.kv"}, 70, {.environment = {"NO_COLOR=1"}});
  std::istringstream lines(narrow.out);
  std::string line;
  std::getline(lines, line);  // the result is one line, however long
  while (std::getline(lines, line)) {
    if (line.find("A test to paste") != std::string::npos) break;  // laid out as code
    EXPECT_LE(line.size(), 71U) << line;
  }
}

}  // namespace
}  // namespace thaw
