// SPDX-License-Identifier: Apache-2.0
//
// The table of rules in the simulated device's README: complete, and true of the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace thaw::test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(std::string(THAW_SOURCES) + "/" + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// "| 52 | refused *(inferred)* | a replay in a capture | `rule_52_...` |"
struct Row {
  std::string kind, how;
  std::vector<std::string> tests;
};

std::multimap<int, Row> table() {
  static const std::regex row(R"(\| (\d+) \| ([^|]*) \| ([^|]*) \|([^|]*)\|)");
  static const std::regex quoted("`([^`]*)`");
  std::multimap<int, Row> rows;
  for (const std::string& line : lines_of("src/device/sim/README.md")) {
    std::smatch cells;
    if (!std::regex_match(line, cells, row)) continue;
    Row& added = rows.emplace(std::stoi(cells[1]), Row{cells[2], cells[3], {}})->second;
    const std::string tests = cells[4];
    for (std::sregex_iterator test(tests.begin(), tests.end(), quoted), end; test != end; ++test) {
      added.tests.push_back((*test)[1]);
    }
  }
  return rows;
}

/// By number, the text of each rule.
std::map<int, std::string> rules() {
  static const std::regex first_line(R"((\d+)\. .*)");
  std::map<int, std::string> rules;
  int number = 0;
  for (const std::string& line : lines_of("docs/capture-rules.md")) {
    std::smatch match;
    if (std::regex_match(line, match, first_line)) number = std::stoi(match[1]);
    if (line.empty() || line[0] == '#') number = 0;
    if (number > 0) rules[number] += line + "\n";
  }
  return rules;
}

std::set<std::string> tests_of_this_program() {
  std::set<std::string> names;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < program.total_test_suite_count(); ++suite) {
    const testing::TestSuite& tests = *program.GetTestSuite(suite);
    for (int i = 0; i < tests.total_test_count(); ++i) names.insert(tests.GetTestInfo(i)->name());
  }
  return names;
}

TEST(RuleTable, has_each_of_the_71_rules_once) {
  const auto rows = table();
  const auto written_rules = rules();
  EXPECT_EQ(written_rules.size(), 71u);
  EXPECT_EQ(rows.size(), 71u);
  for (int number = 1; number <= 71; ++number) {
    EXPECT_EQ(rows.count(number), 1u) << "rule " << number;
    EXPECT_EQ(written_rules.count(number), 1u) << "rule " << number;
  }
}

TEST(RuleTable, says_how_each_rule_is_met_and_names_tests_that_exist) {
  const std::set<std::string> existing = tests_of_this_program();
  for (const auto& [number, row] : table()) {
    SCOPED_TRACE(number);
    const std::string kind = row.kind.substr(0, row.kind.find(" *("));
    EXPECT_THAT(kind, AnyOf("simulated", "refused", "not reachable"));
    EXPECT_THAT(row.how, Not(IsEmpty()));
    if (kind == "not reachable") {
      EXPECT_THAT(row.tests, IsEmpty());
    } else {
      EXPECT_THAT(row.tests, Not(IsEmpty()));
    }
    for (const std::string& test : row.tests) {
      EXPECT_TRUE(existing.count(test)) << "there is no test " << test;
      EXPECT_EQ(test.rfind("rule_" + std::to_string(number) + "_", 0), 0u) << test;
    }
  }
}

TEST(RuleTable, has_every_rule_that_a_test_is_named_after) {
  static const std::regex named("rule_([0-9]+)_.*");
  const auto rows = table();
  for (const std::string& test : tests_of_this_program()) {
    std::smatch match;
    if (!std::regex_match(test, match, named)) continue;
    const auto row = rows.find(std::stoi(match[1]));
    ASSERT_NE(row, rows.end()) << test;
    EXPECT_THAT(row->second.kind, Not(HasSubstr("not reachable"))) << test;
  }
}

TEST(RuleTable, marks_what_no_source_says) {
  const auto rows = table();
  for (const auto& [number, text] : rules()) {
    const bool inferred = text.find("*(inferred)*") != std::string::npos;
    const auto row = rows.find(number);
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(row->second.kind.find("*(inferred)*") != std::string::npos, inferred) << number;
  }
}

}  // namespace
}  // namespace thaw::test
