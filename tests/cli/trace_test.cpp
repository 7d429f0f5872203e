// SPDX-License-Identifier: Apache-2.0
//
// thaw trace: what it prints, and the exit status, for traces of three requests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "cli/program.h"

namespace thaw {
namespace {

using testing::HasSubstr;

constexpr const char* three_requests =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n"
    "2023-11-16 18:17:03.9799600,40,12\n"
    "2023-11-16 18:17:04.0319600,300,70\n"
    "2023-11-16 18:17:04.0781590,7,1\n";

constexpr const char* three_others =
    R"({"timestamp": 0, "input_length": 1030, "output_length": 6, "hash_ids": [0, 1, 2]})"
    "\n"
    R"({"timestamp": 3, "input_length": 600, "output_length": 40, "hash_ids": [0, 3]})"
    "\n"
    R"({"timestamp": 9, "input_length": 30, "output_length": 1, "hash_ids": [4]})"
    "\n";

/// What differs from run to run, taken out.
std::string without_measures(const std::string& text) {
  const std::regex speed("speed .*"), memory("memory .*");
  return std::regex_replace(std::regex_replace(text, speed, "speed"), memory, "memory");
}

TEST(Trace, is_clean_on_the_static_cache) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished run = box.run({"trace", "requests.csv"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  expect_text("trace_clean.txt", without_measures(run.out));
}

TEST(Trace, goes_on_after_findings_and_names_the_first_wrong_token) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished run = box.run({"trace", "requests.csv", "--cache", "counter", "--rows", "2"});
  EXPECT_EQ(run.status, 1);
  expect_text("trace_counter.txt", without_measures(run.out));
}

TEST(Trace, of_mooncake_tells_what_prefixes_are_shared) {
  Sandbox box;
  box.write("requests.jsonl", three_others);
  const Finished run = box.run({"trace", "requests.jsonl"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("prefixes: 1 of 6 blocks were seen before (16.7 %)"));
  EXPECT_EQ(box.run({"trace", "-"}, {.text = three_others}).status, 0);
}

TEST(Trace, options_choose_how_much_is_served_and_how) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished run =
      box.run({"trace", "requests.csv", "--requests", "2", "--rows", "1", "--scale", "10",
               "--slots", "50", "--decoder", "tag", "--print-case"});
  EXPECT_EQ(run.out,
            "thaw case 1\nslots 50\nprefill 0 4\nwarmup x3\ncapture g\nreplay g x2\nreset 0\n"
            "prefill 0 30\nreplay g x7\nreset 0\n");
}

TEST(Trace, shows_progress_on_a_terminal_and_takes_it_away_again) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished run =
      box.run_on_terminal({"trace", "requests.csv"}, 80, {.errors_on_terminal = true});
  EXPECT_THAT(run.out, HasSubstr("\r\x1b[K0 of 3 requests, 0 %, 0 tokens/s"));
  EXPECT_THAT(run.out, HasSubstr("\r\x1b[K\r\n")) << "the line is empty before the summary";
}

TEST(Trace, that_cannot_be_read_is_bad_input_with_file_and_line) {
  Sandbox box;
  const auto refused = [&](const std::string& text, const std::string& beginning) {
    box.write("trace", text);
    const Finished run = box.run({"trace", "trace"});
    EXPECT_EQ(run.status, 2) << text;
    EXPECT_EQ(run.out, "") << "nothing is half imported";
    EXPECT_EQ(run.err.find(beginning), 0U) << run.err;
  };
  refused("a,b\n1,2\n", "trace:1: no column ContextTokens");
  refused(std::string(three_requests) + "t,7\n", "trace:5: 2 fields in 't,7'");
  refused(std::string(three_others) + "{\"timestamp\": 0, \"inp", "trace:4: not a whole JSON");
  refused(std::string("\x7f\0ELF\x02", 6), "trace:1: no column");
}

TEST(Trace, of_an_unknown_decoder_or_cache_is_bad_input) {
  Sandbox box;
  box.write("requests.csv", three_requests);
  const Finished decoder = box.run({"trace", "requests.csv", "--decoder", "mamba"});
  EXPECT_EQ(decoder.status, 2);
  EXPECT_THAT(decoder.err, HasSubstr("--decoder: unknown decoder 'mamba'; one of tag"));
  const Finished cache = box.run({"trace", "requests.csv", "--cache", "statik"});
  EXPECT_EQ(cache.status, 2);
  EXPECT_EQ(cache.out, "");
  EXPECT_THAT(cache.err, HasSubstr("did you mean 'static'?"));
}

}  // namespace
}  // namespace thaw
