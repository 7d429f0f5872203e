// SPDX-License-Identifier: Apache-2.0
//
// thaw run --dump-graphs: the files that it writes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/cases.h"
#include "cli/program.h"

namespace thaw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> files_in(const Sandbox& box, const std::string& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(box.path(folder))) return names;
  for (const auto& entry : std::filesystem::directory_iterator(box.path(folder))) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(DumpGraphs, writes_every_graph_of_every_run_as_text_and_for_graphviz) {
  Sandbox box;
  box.write("cases/frozen.kv", expected_case);
  const Finished run = box.run({"run", "cases/frozen.kv", "--dump-graphs", "out/graphs"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(
      files_in(box, "out/graphs"),
      ElementsAre("cases_frozen.counter_host_int.2-g.dot", "cases_frozen.counter_host_int.2-g.txt",
                  "cases_frozen.static.2-g.dot", "cases_frozen.static.2-g.txt"));
}

TEST(DumpGraphs, names_memory_as_cache_decoder_and_caller_do_and_shows_frozen_values) {
  Sandbox box;
  box.write("frozen.kv", expected_case);
  box.run({"run", "frozen.kv", "--dump-graphs", "graphs"});
  expect_text("graph_static.txt", box.read("graphs/frozen.static.2-g.txt"));
  expect_text("graph_host_int.dot", box.read("graphs/frozen.counter_host_int.2-g.dot"));
}

TEST(DumpGraphs, is_the_same_whatever_ran_before) {
  Sandbox box;
  box.write("frozen.kv", frozen_case);
  box.write("other.kv", "thaw case 1\nrows 2\nprefill all 3\ncapture a q=2\nchurn 3\n");
  box.run({"run", "frozen.kv", "--dump-graphs", "one"});
  box.run({"run", "other.kv", "frozen.kv", "--dump-graphs", "two"});
  const std::string file = "/frozen.counter_host_int.2-g.dot";
  EXPECT_EQ(box.read("one" + file), box.read("two" + file));
}

TEST(DumpGraphs, a_refused_capture_has_no_graph_to_dump) {
  Sandbox box;
  box.write("lazy.kv", "thaw case 1\nlazy on\ncapture g\nexpect refusal@1\n");
  const Finished run = box.run({"run", "lazy.kv", "--dump-graphs", "graphs"});
  EXPECT_EQ(run.status, 0) << run.out;
  EXPECT_THAT(files_in(box, "graphs"), IsEmpty());
}

TEST(DumpGraphs, a_folder_that_cannot_be_made_is_bad_input) {
  Sandbox box;
  box.write("frozen.kv", frozen_case);
  box.write("file", "");
  const Finished run = box.run({"run", "frozen.kv", "--dump-graphs", "file"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--dump-graphs: file/frozen.counter_host_int.2-g.txt cannot be "
                                 "written"));
}

}  // namespace
}  // namespace thaw
