// SPDX-License-Identifier: Apache-2.0
//
// thaw run: what is printed, and the exit status that follows (section 5 of the language).

#include <gtest/gtest.h>

#include <string>

#include "cli/cases.h"
#include "cli/program.h"

namespace thaw {
namespace {

TEST(Run, a_clean_case_is_one_line_and_what_it_rests_on) {
  Sandbox box;
  box.write("clean.kv", clean_case);
  const Finished run = box.run({"run", "clean.kv"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  expect_text("clean.txt", run.out);
}

TEST(Run, a_case_without_expects_fails_by_its_findings_and_shows_a_report) {
  Sandbox box;
  box.write("frozen.kv", frozen_case);
  const Finished run = box.run({"run", "frozen.kv"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "");
  expect_text("frozen.txt", run.out);
}

TEST(Run, expects_that_hold_run_every_cache_they_name_and_decide_the_status) {
  Sandbox box;
  box.write("expected.kv", expected_case);
  const Finished run = box.run({"run", "expected.kv"});
  EXPECT_EQ(run.status, 0);
  expect_text("expected.txt", run.out);
}

TEST(Run, expects_that_do_not_hold_are_told_with_what_there_was_instead) {
  Sandbox box;
  box.write("disappointed.kv", disappointed_case);
  const Finished run = box.run({"run", "disappointed.kv"});
  EXPECT_EQ(run.status, 1);
  expect_text("disappointed.txt", run.out);
}

TEST(Run, a_case_that_needs_another_device_is_incomplete_and_never_clean) {
  Sandbox box;
  box.write("cuda.kv", needs_cuda_case);
  const Finished run = box.run({"run", "cuda.kv"});
  EXPECT_EQ(run.status, 3);
  expect_text("incomplete.txt", run.out);
}

TEST(Run, an_expect_of_a_kind_that_nobody_judges_is_incomplete) {
  Sandbox box;
  box.write("freeze.kv", clean_case + "expect freeze\n");
  const Finished run = box.run({"run", "freeze.kv"});
  EXPECT_EQ(run.status, 3);
  EXPECT_NE(run.out.find("expect freeze: not judged on static"), std::string::npos) << run.out;
}

TEST(Run, many_cases_as_expected_are_one_summary_line) {
  Sandbox box;
  box.write("cases/b.kv", clean_case);
  box.write("cases/deep/er/a.kv", expected_case);
  box.write("cases/a.kv", clean_case);
  box.write("cases/notes.txt", "no case");
  const Finished quiet = box.run({"run", "cases"});
  EXPECT_EQ(quiet.status, 0);
  expect_text("many_quiet.txt", quiet.out);
  const Finished verbose = box.run({"run", "cases", "-v"});
  EXPECT_EQ(verbose.status, 0);
  expect_text("many_verbose.txt", verbose.out);
}

TEST(Run, what_is_wrong_with_one_input_keeps_no_other_from_running) {
  Sandbox box;
  box.write("broken.kv", broken_case);
  box.write("clean.kv", clean_case);
  box.write("cuda.kv", needs_cuda_case);
  box.write("frozen.kv", frozen_case);
  const Finished run =
      box.run({"run", "missing.kv", "broken.kv", "clean.kv", "cuda.kv", "frozen.kv", "-v"});
  EXPECT_EQ(run.status, 2);
  expect_text("mixed_out.txt", run.out);
  expect_text("mixed_err.txt", run.err);
}

TEST(Run, findings_weigh_more_than_incomplete_runs) {
  Sandbox box;
  box.write("cuda.kv", needs_cuda_case);
  box.write("frozen.kv", frozen_case);
  EXPECT_EQ(box.run({"run", "frozen.kv", "cuda.kv"}).status, 1);
}

TEST(Run, with_cache_the_expects_that_speak_of_it_decide) {
  Sandbox box;
  box.write("case.kv", expected_case);
  const Finished own = box.run({"run", "case.kv", "--cache", "counter"});
  EXPECT_EQ(own.status, 0);
  EXPECT_NE(own.out.find("counter:host_int: purity@2"), std::string::npos) << own.out;
  EXPECT_EQ(own.out.find("static"), std::string::npos) << own.out;
  const Finished named = box.run({"run", "case.kv", "--cache", "static"});
  EXPECT_EQ(named.status, 0);
  EXPECT_EQ(named.out.find("counter"), std::string::npos) << named.out;
}

TEST(Run, with_cache_that_no_expect_speaks_of_its_findings_decide) {
  Sandbox box;
  box.write("case.kv", expected_case);
  EXPECT_EQ(box.run({"run", "case.kv", "--cache", "counter:cpu_scalar"}).status, 1);
}

TEST(Run, with_cache_a_case_of_a_cache_that_is_not_there_runs_all_the_same) {
  Sandbox box;
  box.write("case.kv",
            "thaw case 1\ncache zoo:not_in_this_build\nprefill 0 3\nexpect slots\nexpect "
            "zoo:neither_is_this clean\nexpect static clean\n");
  EXPECT_EQ(box.run({"run", "case.kv", "--cache", "static"}).status, 0);
  EXPECT_EQ(box.run({"run", "case.kv"}).status, 2);
}

TEST(Run, standard_input_is_a_case_and_the_report_says_how_to_repeat_it) {
  Sandbox box;
  const Finished run = box.run({"run", "-"}, {.text = frozen_case});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("thaw run - --cache counter:host_int < CASE"), std::string::npos)
      << run.out;
}

TEST(Run, the_command_to_repeat_carries_flags_and_quotes_what_a_shell_would_split) {
  Sandbox box;
  box.write("it's a case.kv", frozen_case);
  const Finished run =
      box.run({"run", "it's a case.kv", "--kernels", "torch", "--leave-freed-memory"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("thaw run 'it'\\''s a case.kv' --cache counter:host_int --kernels torch"),
            std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("--leave-freed-memory\n"), std::string::npos) << run.out;
}

TEST(Run, explain_shows_the_report_of_findings_that_were_expected) {
  Sandbox box;
  box.write("expected.kv", expected_case);
  const Finished run = box.run({"run", "expected.kv", "--explain"});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("remedy"), std::string::npos) << run.out;
}

TEST(Run, a_long_case_is_shown_around_its_findings) {
  Sandbox box;
  std::string text = "thaw case 1\ncache counter:host_int\nslots 64\nprefill 0 5\n";
  for (int i = 0; i < 30; ++i) text += "decode\n";
  text += "capture g\nreplay g x3\ndecode\ndecode\n";
  box.write("long.kv", text);
  const Finished run = box.run({"run", "long.kv"});
  EXPECT_EQ(run.status, 1);
  expect_text("long.txt", run.out);
}

TEST(Run, leaving_freed_memory_alone_changes_what_a_rebound_counter_does) {
  Sandbox box;
  box.write("rebind.kv",
            "thaw case 1\ncache counter:device_rebind\nprefill 0 5\nwarmup x3\ncapture g\n"
            "replay g x4\nexpect slots@2.1\n");
  const Finished filled = box.run({"run", "rebind.kv", "--explain"});
  const Finished left = box.run({"run", "rebind.kv", "--explain", "--leave-freed-memory"});
  EXPECT_NE(filled.out, left.out);
}

TEST(Run, the_same_case_is_the_same_text_again_and_after_any_other_case) {
  Sandbox box;
  box.write("a.kv", frozen_case);
  box.write("b.kv",
            "thaw case 1\ncache counter:device_in_place\nrows 3\nlayers 2\nprefill all 4\n"
            "warmup x2\ncapture g q=2\nreplay g x4\nreset 1\nreplay g\n");
  const Finished alone = box.run({"run", "a.kv", "--explain"});
  const Finished again = box.run({"run", "a.kv", "--explain"});
  EXPECT_EQ(alone.out, again.out);
  const Finished after = box.run({"run", "b.kv", "a.kv", "--explain"});
  const std::string report = alone.out.substr(0, alone.out.find("repeat"));
  EXPECT_NE(after.out.find(report), std::string::npos) << after.out;
}

TEST(Run, output_that_cannot_be_written_is_a_failure_of_the_harness) {
  Sandbox box;
  box.write("clean.kv", clean_case);
  const Finished run = box.run({"run", "clean.kv"}, {.out_to = "/dev/full"});
  EXPECT_EQ(run.status, 4);
  EXPECT_NE(run.err.find("standard output could not be written"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace thaw
