// SPDX-License-Identifier: Apache-2.0
//
// Bad input: one clear message with a remedy on standard error, status 2, nothing on standard
// output.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/cases.h"
#include "cli/program.h"

namespace thaw {
namespace {

struct BadCommand {
  std::string name;
  std::vector<std::string> arguments;
  std::string message;
};

std::vector<BadCommand> bad_commands() {
  return {
      {"no_command", {}, "thaw: no command was given; 'thaw --help' shows what there is\n"},
      {"unknown_command",
       {"rnu"},
       "thaw: unknown command 'rnu'; did you mean 'run'? 'thaw --help' shows what there is\n"},
      {"unknown_flag",
       {"run", "clean.kv", "--jsn"},
       "thaw: unknown argument '--jsn'; did you mean '--json'? 'thaw run --help' shows what there "
       "is\n"},
      {"nothing_to_run",
       {"run"},
       "thaw: CASE is required; 'thaw run --help' shows what there is\n"},
      {"unknown_list",
       {"list", "cashes"},
       "thaw: list: unknown list 'cashes'; did you mean 'caches'? There are caches, ops, oracles, "
       "kinds, keys\n"},
      {"unknown_kernels",
       {"run", "clean.kv", "--kernels", "fast"},
       "thaw: --kernels: unknown kernels 'fast'; one of registered, torch\n"},
      {"unknown_cache",
       {"run", "clean.kv", "--cache", "statik"},
       "thaw: --cache: unknown cache 'statik'; did you mean 'static'? ('thaw list caches' shows "
       "all)\n"},
      {"worker_with_files",
       {"run", "clean.kv", "--jsonl"},
       "thaw: --jsonl: requests come from standard input; write 'thaw run - --jsonl'\n"},
  };
}

class BadCommandTest : public testing::TestWithParam<BadCommand> {};

TEST_P(BadCommandTest, is_one_message_and_status_2) {
  Sandbox box;
  box.write("clean.kv", clean_case);
  const Finished run = box.run(GetParam().arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Program, BadCommandTest, testing::ValuesIn(bad_commands()),
                         [](const auto& info) { return info.param.name; });

TEST(BadInput, every_file_that_cannot_be_run_is_told_by_name_with_a_remedy) {
  Sandbox box;
  box.write("own.kv",
            "thaw case 1\n# a comment: cache nothing\ncache statci # here\nprefill 0 5\n");
  box.write("named.kv", "thaw case 1\nprefill 0 5\nexpect counter:hostint slots\n");
  box.write("broken.kv", broken_case);
  box.write("empty.kv", "");
  box.write("binary.kv", std::string("thaw case 1\n\0\n", 14));
  box.write("folder/no_case.txt", "");
  const Finished run = box.run({"run", "missing.kv", "/proc/self/mem", "folder", "own.kv",
                                "named.kv", "broken.kv", "empty.kv", "binary.kv"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "8 cases: 0 as expected, 8 bad input\n");
  expect_text("bad_files.txt", run.err);
}

TEST(BadInput, an_endless_file_is_refused_by_its_size) {
  Sandbox box;
  const Finished run = box.run({"run", "/dev/zero"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_LT(run.err.size(), 300U) << run.err.substr(0, 300);
}

}  // namespace
}  // namespace thaw
