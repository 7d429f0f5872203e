// SPDX-License-Identifier: Apache-2.0
//
// --device: this program's device, or the sibling program's.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/cases.h"
#include "cli/program.h"

namespace thaw {
namespace {

namespace fs = std::filesystem;

/// A folder with a thaw of its own, and with what is named as its sibling.
class DeviceOption : public testing::Test {
 protected:
  DeviceOption() {
    fs::create_directory(box.path("bin"));
    fs::copy_file(THAW_PROGRAM, box.path("bin/thaw"));
    box.write("clean.kv", clean_case);
  }

  void put_beside(const std::string& name, const std::string& script) {
    box.write("bin/" + name, "#!/bin/sh\n" + script);
    fs::permissions(box.path("bin/" + name), fs::perms::owner_all);
  }

  Finished run(const std::vector<std::string>& arguments) {
    return box.run(arguments, {.text = clean_case, .program = box.path("bin/thaw").string()});
  }

  Sandbox box;
};

TEST_F(DeviceOption, sim_is_this_program_itself) {
  const Finished with = run({"run", "clean.kv", "--device", "sim"});
  EXPECT_EQ(with.status, 0) << with.err;
  EXPECT_EQ(with.out, run({"run", "clean.kv"}).out);
}

TEST_F(DeviceOption, cuda_is_the_sibling_with_the_same_arguments_and_input) {
  put_beside("thaw-cuda", "echo \"$@\"\ncat\nexit 7\n");
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--device", "cuda", "run", "-"}, {"run", "-", "--device=cuda"}}) {
    const Finished ran = run(arguments);
    EXPECT_EQ(ran.status, 7) << ran.err;
    std::string line;
    for (const std::string& argument : arguments) line += (line.empty() ? "" : " ") + argument;
    EXPECT_EQ(ran.out, line + "\n" + clean_case);
  }
}

TEST_F(DeviceOption, a_sibling_that_is_not_there_is_told_with_the_remedy) {
  const Finished ran = run({"run", "clean.kv", "--device", "cuda"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "thaw: --device cuda: there is no program thaw-cuda beside this one; it is built where "
            "a CUDA toolkit is installed (THAW_CUDA, docs/building.md); without --device cuda the "
            "case runs on the simulated device\n");
}

TEST_F(DeviceOption, a_sibling_that_cannot_be_run_is_told_with_the_reason) {
  box.write("bin/thaw-cuda", "");
  const Finished ran = run({"--device", "cuda", "reproduce"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("thaw-cuda cannot be run: Permission denied; "), std::string::npos)
      << ran.err;
}

TEST_F(DeviceOption, an_unknown_device_is_told_what_there_is) {
  const Finished ran = run({"trace", "requests.csv", "--device", "gpu"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.err, "thaw: --device: unknown device 'gpu'; one of sim, cuda\n");
}

}  // namespace
}  // namespace thaw
