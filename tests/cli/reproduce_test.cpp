// SPDX-License-Identifier: Apache-2.0
//
// thaw reproduce: the exit status, and the words by which people know what they saw.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace thaw {
namespace {

TEST(Reproduce, shows_the_bug_beside_the_cache_that_does_not_have_it) {
  Sandbox box;
  const Finished run = box.run({"reproduce"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  expect_text("reproduce.txt", run.out);
}

TEST(Reproduce, all_modes_are_named_as_what_they_are) {
  Sandbox box;
  const Finished run = box.run({"reproduce", "--mode", "all"});
  EXPECT_EQ(run.status, 0);
  expect_text("reproduce_all.txt", run.out);
}

TEST(Reproduce, plain_libtorch_kernels_give_the_same_text) {
  Sandbox box;
  const Finished run = box.run({"reproduce", "--mode", "all", "--kernels", "torch"});
  EXPECT_EQ(run.status, 0);
  expect_text("reproduce_all.txt", run.out);
}

TEST(Reproduce, an_unknown_mode_is_told_what_there_is) {
  Sandbox box;
  const Finished run = box.run({"reproduce", "--mode", "host"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find("unknown mode 'host'; one of host_int"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace thaw
