// SPDX-License-Identifier: Apache-2.0
//
// What holds for the whole zoo: every fault and decoy has its case, and its file says whom it
// follows. That the cases come out as they expect is a test of the corpus.

#include "zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "case/case_text.h"

namespace thaw {
namespace {

namespace fs = std::filesystem;

const fs::path sources{THAW_SOURCES};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> names(const std::string& prefix) {
  std::vector<std::string> found;
  const Registry registry = full_registry();
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.name.starts_with(prefix)) found.push_back(entry.name.substr(prefix.size()));
  }
  return found;
}

std::vector<Case> cases() {
  std::vector<Case> found;
  for (const auto& entry : fs::directory_iterator(sources / "corpus/zoo")) {
    found.push_back(parse_case(read(entry.path()), entry.path().string()));
  }
  return found;
}

bool expects(const Case& c, const std::string& cache, bool clean) {
  return std::any_of(c.expects.begin(), c.expects.end(), [&](const Line<Expect>& line) {
    return line.value.cache == cache && line.value.kind.has_value() != clean;
  });
}

TEST(Zoo, every_fault_has_a_case_in_which_it_is_found_and_the_right_cache_is_clean) {
  const auto all = cases();
  ASSERT_FALSE(names("zoo:").empty());
  for (const std::string& name : names("zoo:")) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Case& c) {
      return c.settings.cache == "zoo:" + name && expects(c, "", false) &&
             expects(c, "static", true);
    })) << name;
  }
}

TEST(Zoo, every_decoy_has_a_case_with_a_fault_that_it_resembles_and_in_which_it_is_clean) {
  const auto all = cases();
  for (const std::string& name : names("decoy:")) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Case& c) {
      return expects(c, "", false) && expects(c, "decoy:" + name, true);
    })) << name;
  }
}

TEST(Zoo, every_fault_is_a_file_whose_header_names_the_public_report_that_it_follows) {
  const std::regex follows(R"(// Follows [A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(#\d+| ))");
  for (const std::string& name : names("zoo:")) {
    const std::string text = read(sources / "harness/zoo/faults" / (name + ".cpp"));
    EXPECT_TRUE(std::regex_search(text.substr(0, text.find("#include")), follows)) << name;
  }
}

TEST(Zoo, every_file_of_the_zoo_is_in_its_inventory) {
  for (const auto& [folder, prefix] : {std::pair<std::string, std::string>{"faults", "zoo:"},
                                       std::pair<std::string, std::string>{"decoys", "decoy:"}}) {
    const auto known = names(prefix);
    size_t files = 0;
    for (const auto& entry : fs::directory_iterator(sources / "harness/zoo" / folder)) {
      const std::string name = entry.path().stem().string();
      EXPECT_NE(std::find(known.begin(), known.end(), name), known.end()) << name;
      ++files;
    }
    EXPECT_EQ(files, known.size()) << folder;
  }
}

TEST(Zoo, the_inventory_is_in_order_of_name_and_its_summaries_are_one_line) {
  for (const std::string prefix : {"zoo:", "decoy:"}) {
    const auto known = names(prefix);
    EXPECT_TRUE(std::is_sorted(known.begin(), known.end()));
  }
  const Registry registry = full_registry();
  for (const Registry::Entry& entry : registry.entries()) {
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_LE(entry.summary.size(), 100U) << entry.name;
  }
}

}  // namespace
}  // namespace thaw
