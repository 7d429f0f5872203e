// SPDX-License-Identifier: Apache-2.0
//
// thaw trace: verdict and exit status of a trace of three requests.

#include <gtest/gtest.h>

#include "cli/program.h"

namespace thaw {
namespace {

constexpr const char* three_requests =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.9799600,40,12\n"
    "2023-11-16 18:17:04.0319600,300,70\n"
    "2023-11-16 18:17:04.0781590,7,1\n";

TEST(Trace, is_clean_on_the_static_cache) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished run = box.run({"trace", "requests.csv"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("clean"), std::string::npos) << run.out;
}

TEST(Trace, names_the_first_wrong_token_of_a_counter) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished run = box.run({"trace", "requests.csv", "--cache", "counter"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("first wrong token: "), std::string::npos) << run.out;
}

TEST(Trace, that_cannot_be_read_is_bad_input_with_file_and_line) {
  Sandbox box;
  box.write("requests.csv", "a,b\n1,2\n");
  const Finished run = box.run({"trace", "requests.csv"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err.find("requests.csv:1: "), 0U) << run.err;
}

}  // namespace
}  // namespace thaw
