// SPDX-License-Identifier: Apache-2.0
#include "trace/request_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace thaw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string request =
    R"({"timestamp": 27482, "input_length": 1030, "output_length": 5, "hash_ids": [46, 47, 9]})";

std::string error_of(const std::string& text) {
  try {
    read_trace(text, "t");
  } catch (const TraceError& e) {
    return e.what();
  }
  return "no error";
}

TEST(RequestTrace, the_format_is_recognised_by_the_first_line) {
  EXPECT_EQ(read_trace(header + "t,5,1\n", "t").format, TraceFormat::azure);
  EXPECT_EQ(read_trace(request + "\n", "t").format, TraceFormat::mooncake);
  EXPECT_EQ(read_trace("\n\r\n" + request, "t").requests[0].line, 3);
}

TEST(RequestTrace, what_is_no_trace_is_refused_with_both_formats_named) {
  EXPECT_EQ(error_of(""), "t:1: the file is empty; expected a trace of requests");
  EXPECT_EQ(error_of("\n\n"), "t:2: the file is empty; expected a trace of requests");
  EXPECT_THAT(error_of("a,b\n1,2\n"), HasSubstr("t:1: no column ContextTokens in 'a,b'"));
  EXPECT_THAT(error_of("a,b\n"), HasSubstr("(TIMESTAMP,ContextTokens,GeneratedTokens)"));
  EXPECT_THAT(error_of("a,b\n"), HasSubstr("the JSON lines of a Mooncake trace"));
  EXPECT_THAT(error_of(std::string("\0\xff\x01", 3)), HasSubstr("\\x00\\xff\\x01"));
}

TEST(RequestTrace, a_line_longer_than_any_request_needs_is_refused) {
  EXPECT_EQ(error_of(std::string((4 << 20) + 1, 'x')),
            "t:1: a line of 4194305 bytes, more than 4194304; is this a trace?");
  EXPECT_THAT(error_of(request + "\n" + std::string(5 << 20, '{')), HasSubstr("t:2: a line of"));
}

TEST(AzureTrace, requests_are_read_in_order_of_arrival) {
  const auto requests = read_trace(header +
                                       "2023-11-16 18:17:03.9799600,4808,10\r\n"
                                       "2023-11-16 18:17:04.0319600,3180,8\n",
                                   "t")
                            .requests;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].prompt, 4808);
  EXPECT_EQ(requests[0].generated, 10);
  EXPECT_EQ(requests[1].prompt, 3180);
  EXPECT_EQ(requests[1].line, 3);
}

TEST(AzureTrace, columns_are_found_by_their_names) {
  const auto requests = read_trace("GeneratedTokens,x,ContextTokens\n2,9,7\n", "t").requests;
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].prompt, 7);
  EXPECT_EQ(requests[0].generated, 2);
}

TEST(AzureTrace, a_broken_line_is_named_and_nothing_is_imported) {
  EXPECT_EQ(error_of(header + "t,5,1\nt,x,1\n"),
            "t:3: ContextTokens must be 1 to 100000000, found 'x'; mend or remove the line");
  EXPECT_EQ(error_of(header + "t,5\n"),
            "t:2: 2 fields in 't,5', the header has 3; mend or remove the line");
  EXPECT_THAT(error_of(header + "t,5,1,1\n"), HasSubstr("t:2: 4 fields"));
  EXPECT_THAT(error_of(header + "t,0,1\n"), HasSubstr("found '0'"));
  EXPECT_THAT(error_of(header + "t,-5,1\n"), HasSubstr("found '-5'"));
  EXPECT_THAT(error_of(header + "t,5,1.5\n"), HasSubstr("GeneratedTokens must be"));
  EXPECT_THAT(error_of(header + "t,99999999999999999999999,1\n"), HasSubstr("t:2: "));
  EXPECT_THAT(error_of(header), HasSubstr("no requests"));
}

TEST(MooncakeTrace, requests_are_read_with_the_names_of_their_blocks) {
  const auto requests =
      read_trace(request + "\r\n\n" + R"({"output_length":1,"input_length":2})", "t").requests;
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].prompt, 1030);
  EXPECT_EQ(requests[0].generated, 5);
  EXPECT_THAT(requests[0].blocks, ElementsAre(46, 47, 9));
  EXPECT_EQ(requests[1].line, 3);
  EXPECT_THAT(requests[1].blocks, IsEmpty());
}

TEST(MooncakeTrace, a_line_that_was_cut_off_is_named_wherever_the_cut_is) {
  for (size_t length = 1; length < request.size(); ++length) {
    EXPECT_THAT(error_of(request + "\n" + request.substr(0, length)),
                HasSubstr("t:2: not a whole JSON object: it breaks at byte"))
        << request.substr(0, length);
  }
}

TEST(MooncakeTrace, a_broken_line_is_named_and_nothing_is_imported) {
  const auto second = [](const std::string& line) { return error_of(request + "\n" + line); };
  EXPECT_EQ(second(R"({"input_length": -1, "output_length": 1})"),
            "t:2: input_length must be 1 to 100000000, found '-1'; mend or remove the line");
  EXPECT_THAT(second(R"({"input_length": 1, "output_length": 1e300})"), HasSubstr("'1e+300'"));
  EXPECT_THAT(second(R"({"input_length": 1, "output_length": 1e999})"), HasSubstr("too large"));
  EXPECT_THAT(second(R"({"input_length": 99999999999999999999, "output_length": 1})"),
              HasSubstr("input_length must be"));
  EXPECT_THAT(second(R"({"input_length": "5", "output_length": 1})"), HasSubstr(R"(found '"5"')"));
  EXPECT_THAT(second(R"({"input_length": 5})"), HasSubstr("no output_length in"));
  EXPECT_THAT(second("[1, 2]"), HasSubstr("t:2: expected a JSON object"));
  EXPECT_THAT(second("7"), HasSubstr("t:2: expected a JSON object"));
  EXPECT_THAT(second(std::string("\x7f\0ELF", 5)), HasSubstr("t:2: not a whole JSON object"));
}

TEST(MooncakeTrace, names_of_blocks_are_integers_from_0) {
  for (const std::string blocks : {"5", "{}", "[1, \"2\"]", "[-1]", "[1.5]", "[[1]]",
                                   "[18446744073709551615]", "[9223372036854775808]", "null"}) {
    EXPECT_EQ(error_of(R"({"input_length": 1, "output_length": 1, "hash_ids": )" + blocks + "}"),
              "t:1: hash_ids must be a list of integers from 0; mend or remove the line")
        << blocks;
  }
}

TEST(MooncakeTrace, nesting_without_end_is_refused) {
  EXPECT_THAT(error_of("{\"x\": " + std::string(100'000, '[')), HasSubstr("t:1: lists or objects"));
}

}  // namespace
}  // namespace thaw
