// SPDX-License-Identifier: Apache-2.0
#include "trace/trace_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "ledger/validate.h"

namespace thaw {
namespace {

std::vector<std::string> ops_of(const Case& c) {
  std::vector<std::string> ops;
  for (const auto& line : c.ops) ops.push_back(print_op(line.value));
  return ops;
}

TEST(TraceCase, requests_take_free_rows_and_all_live_rows_step_together) {
  const std::vector<Request> requests{{5, 2, 2, {}}, {3, 3, 3, {}}, {4, 1, 4, {}}};
  const Case c = trace_case(requests, {.rows = 2}, "t.csv");
  EXPECT_THAT(ops_of(c), testing::ElementsAre("prefill 0 5", "prefill 1 3", "warmup x3",
                                              "capture g", "replay g x2", "reset 0", "prefill 0 4",
                                              "replay g", "reset 0", "reset 1"));
  EXPECT_EQ(c.settings.slots, 7);
}

TEST(TraceCase, lengths_are_divided_by_the_scale_and_rounded_up) {
  const std::vector<Request> requests{{33, 17, 2, {}}};
  const Case c = trace_case(requests, {.rows = 1, .scale = 16}, "t.csv");
  EXPECT_EQ(c.ops[0].value.count, 3);
  EXPECT_EQ(c.ops[3].value.times, 2);
}

std::string error_of(const std::vector<Request>& requests, const TraceOptions& options) {
  try {
    trace_case(requests, options, "t.csv");
  } catch (const TraceError& e) {
    return e.what();
  }
  return "no error";
}

TEST(TraceCase, a_request_that_does_not_fit_is_named_by_its_line) {
  const std::vector<Request> requests{{5, 1, 2, {}}, {5000, 1, 3, {}}};
  EXPECT_EQ(error_of(requests, {.rows = 1}),
            "t.csv:3: the request needs 5001 slots at scale 1, more than 4096; --scale 2 is the "
            "smallest at which all requests fit");
}

TEST(TraceCase, the_scale_that_is_proposed_is_the_smallest_that_fits) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 1 + random() % 5; ++i) {
      requests.push_back({int64_t(1 + random() % 500), int64_t(1 + random() % 90), 2, {}});
    }
    const int64_t slots = int64_t(2 + random() % 40);
    int64_t fits = 1;
    while (error_of(requests, {.scale = fits, .slots = slots}) != "no error") ++fits;
    if (fits == 1) continue;
    EXPECT_THAT(error_of(requests, {.scale = 1, .slots = slots}),
                testing::HasSubstr("--scale " + std::to_string(fits) + " is the smallest"));
  }
}

TEST(TraceCase, a_trace_longer_than_a_case_can_be_is_refused) {
  const std::vector<Request> long_ones(3'000, Request{1, 4'000, 2, {}});
  EXPECT_THAT(error_of(long_ones, {.rows = 1}), testing::HasSubstr("10000000 steps"));
}

TEST(TraceCase, a_place_in_the_case_is_traced_back_to_its_request) {
  const std::vector<Request> requests{{5, 2, 2, {}}, {3, 3, 3, {}}, {4, 1, 4, {}}};
  const Case c = trace_case(requests, {.rows = 2}, "t.csv");
  EXPECT_EQ(request_at(c, 5, 0), 0U) << "replay g x2, before the second prefill of row 0";
  EXPECT_EQ(request_at(c, 5, 1), 1U);
  EXPECT_EQ(request_at(c, 8, 0), 2U);
  EXPECT_EQ(request_at(c, 8, 1), 1U);
}

TEST(TraceCase, every_trace_makes_a_valid_case_in_which_each_request_is_served_whole) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Request> requests;
    int64_t prompts = 0;
    for (uint64_t i = 0; i < 1 + random() % 30; ++i) {
      requests.push_back(
          {int64_t(1 + random() % 50), int64_t(1 + random() % 20), int64_t(i + 2), {}});
      prompts += requests.back().prompt;
    }
    const Case c = trace_case(requests, {.rows = int64_t(1 + random() % 4)}, "t.csv");
    validate_case(c, "t.csv");
    int64_t prefilled = 0;
    size_t resets = 0;
    for (const auto& line : c.ops) {
      if (line.value.kind == OpKind::prefill) prefilled += line.value.count;
      if (line.value.kind == OpKind::reset) ++resets;
    }
    EXPECT_EQ(prefilled, prompts);
    EXPECT_EQ(resets, requests.size());
  }
}

}  // namespace
}  // namespace thaw
