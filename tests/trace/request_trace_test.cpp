// SPDX-License-Identifier: Apache-2.0
#include "trace/request_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace thaw {
namespace {

using testing::HasSubstr;

const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

std::string error_of(const std::string& text) {
  try {
    read_azure_trace(text, "t.csv");
  } catch (const TraceError& e) {
    return e.what();
  }
  return "no error";
}

TEST(AzureTrace, requests_are_read_in_order_of_arrival) {
  const auto requests = read_azure_trace(
      header + "2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8\n",
      "t.csv");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].prompt, 4808);
  EXPECT_EQ(requests[0].generated, 10);
  EXPECT_EQ(requests[1].prompt, 3180);
  EXPECT_EQ(requests[1].line, 3);
}

TEST(AzureTrace, columns_are_found_by_their_names) {
  const auto requests = read_azure_trace("GeneratedTokens,x,ContextTokens\n2,9,7\n", "t.csv");
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].prompt, 7);
  EXPECT_EQ(requests[0].generated, 2);
}

TEST(AzureTrace, a_broken_line_is_named_and_nothing_is_imported) {
  EXPECT_EQ(error_of(header + "t,5,1\nt,x,1\n"),
            "t.csv:3: ContextTokens must be 1 to 100000000, found 'x'; mend or remove the line");
  EXPECT_THAT(error_of(header + "t,5\n"), HasSubstr("t.csv:2: no GeneratedTokens in 't,5'"));
  EXPECT_THAT(error_of(header + "t,0,1\n"), HasSubstr("found '0'"));
  EXPECT_THAT(error_of(header + "t,-5,1\n"), HasSubstr("found '-5'"));
  EXPECT_THAT(error_of(header + "t,99999999999999999999999,1\n"), HasSubstr("t.csv:2"));
}

TEST(AzureTrace, what_is_no_trace_is_refused_with_the_expected_header) {
  EXPECT_THAT(error_of(""), HasSubstr("no column ContextTokens"));
  EXPECT_THAT(error_of("{\"timestamp\": 0}\n"), HasSubstr("TIMESTAMP,ContextTokens"));
  EXPECT_THAT(error_of(std::string("\0\xff\x01", 3)), HasSubstr("\\x00\\xff\\x01"));
  EXPECT_THAT(error_of(header), HasSubstr("no requests"));
}

}  // namespace
}  // namespace thaw
