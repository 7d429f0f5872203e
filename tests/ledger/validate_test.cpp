// SPDX-License-Identifier: Apache-2.0
#include "ledger/validate.h"

#include <gtest/gtest.h>

#include "case/case_text.h"
#include "ledger/ledger.h"
#include "ledger/ops.h"
#include "ledger/random_ops.h"

namespace thaw {
namespace {

/// What a case is told, or "accepted".
std::string verdict(std::string_view text) {
  try {
    validate_case(parse_case(text, "a.kv"), "a.kv");
    return "accepted";
  } catch (const CaseError& error) {
    return error.what();
  }
}

TEST(Validate, accepts_a_case_whose_preconditions_hold) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "rows 2\n"
                    "prefill all 4\n"
                    "capture g q=2\n"
                    "replay g x2\n"
                    "crop 0 6\n"
                    "park 1\n"
                    "expect slots@3.2\n"
                    "expect static clean\n"
                    "expect length\n"),
            "accepted");
}

TEST(Validate, R22_a_crop_past_the_length_points_at_the_new_length) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "rows 2\n"
                    "prefill 0 5\n"
                    "prefill 1 4\n"
                    "# a rejected draft\n"
                    "crop 0 4\n"
                    "crop 1 6\n"),
            "a.kv:7:8: crop: row 1 has length 4 here, cannot crop to 6 (L at most 4)");
}

TEST(Validate, R22_a_replay_of_an_unknown_graph_points_at_its_name_and_lists_the_graphs) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "prefill 0 5\n"
                    "capture b\n"
                    "capture a\n"
                    "capture g\n"
                    "drop b\n"
                    "replay h\n"),
            "a.kv:7:8: replay: no graph 'h' here; captured so far: a, g");
}

TEST(Validate, R15_a_second_capture_names_the_line_of_the_first) {
  EXPECT_EQ(
      verdict("thaw case 1\n"
              "prefill 0 5\n"
              "capture g\n"
              "drop g\n"
              "capture g\n"
              "capture h\n"
              "replay g\n"
              "capture g q=2\n"),
      "a.kv:8:9: capture: graph 'g' exists since line 5; 'drop g' first or take another name");
}

TEST(Validate, R22_a_prefill_of_a_parked_row_names_the_line_that_parked_it) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "slots 8\n"
                    "prefill 0 2\n"
                    "park 0\n"
                    "\n"
                    "prefill 0 3\n"),
            "a.kv:6:9: prefill: row 0 is parked since line 4; 'unpark 0' first");
}

TEST(Validate, the_line_is_that_of_the_latest_park) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "prefill 0 2\n"
                    "park 0\n"
                    "unpark 0\n"
                    "park all\n"
                    "churn 2\n"
                    "load 0 3\n"),
            "a.kv:7:6: load: row 0 is parked since line 5; 'unpark 0' first");
}

TEST(Validate, a_reorder_can_be_the_line_since_which_a_row_is_parked) {
  const std::string text =
      "thaw case 1\n"
      "rows 2\n"
      "prefill all 2\n"
      "park 0\n"
      "reorder 1 0\n";
  EXPECT_EQ(verdict(text + "copy 0 1\n"),
            "a.kv:6:8: copy: row 1 is parked since line 5; 'unpark 1' first");
  EXPECT_EQ(verdict(text + "prefill 0 3\n"), "accepted");
  EXPECT_EQ(verdict("thaw case 1\n"
                    "rows 2\n"
                    "prefill all 2\n"
                    "park 1\n"
                    "reorder 1 1\n"
                    "crop 1 1\n"),
            "a.kv:6:6: crop: row 1 is parked since line 4; 'unpark 1' first");
}

TEST(Validate, an_expect_of_an_op_past_the_end_points_at_the_number) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "# five ops, two of them below\n"
                    "prefill 0 5\n"
                    "decode\n"
                    "warmup\n"
                    "capture g\n"
                    "replay g\n"
                    "expect clean\n"
                    "expect slots@7\n"),
            "a.kv:9:14: expect: slots@7: the case has 5 ops (settings, comments and expects are "
            "not counted)");
  EXPECT_EQ(verdict("thaw case 1\nprefill 0 5\nexpect static slots@2.1\n"),
            "a.kv:3:21: expect: slots@2.1: the case has 1 op (settings, comments and expects are "
            "not counted)");
  EXPECT_EQ(verdict("thaw case 1\nexpect slots@1\n"),
            "a.kv:2:14: expect: slots@1: the case has no ops (settings, comments and expects are "
            "not counted)");
}

TEST(Validate, an_expect_of_a_step_past_its_op_points_at_the_number) {
  EXPECT_EQ(verdict("thaw case 1\n"
                    "slots 8\n"
                    "\n"
                    "\n"
                    "prefill 0 5\n"
                    "capture g\n"
                    "replay g x2\n"
                    "\n"
                    "expect slots@3.5\n"),
            "a.kv:9:16: expect: slots@3.5: op 3 has 2 steps");
  EXPECT_EQ(verdict("thaw case 1\nprefill 0 5\nexpect slots@1.2\n"),
            "a.kv:3:16: expect: slots@1.2: op 1 has 1 step");
  EXPECT_EQ(verdict("thaw case 1\nreset 0\nexpect purity@1.1\n"),
            "a.kv:3:17: expect: purity@1.1: op 1 has no steps");
}

TEST(Validate, a_step_that_is_too_large_for_the_llama_decoder_points_at_its_op) {
  const std::string sizes = "rows 16\nslots 4096\nheads 16\n";
  EXPECT_EQ(
      verdict("thaw case 1\ndecoder llama\n" + sizes + "prefill 0 4\nprefill 0 4000\n"),
      "a.kv:7:1: prefill: a step of 4000 tokens on 16 rows of 4096 slots needs more than 1 GiB "
      "of intermediate results with the decoder llama; use fewer rows, slots, heads or tokens, "
      "or the decoder tag");
  EXPECT_EQ(verdict("thaw case 1\ndecoder tag\n" + sizes + "prefill 0 4000\n"), "accepted");
}

TEST(Validate, R18_an_expectation_names_no_step_where_nobody_looks_after_steps) {
  EXPECT_EQ(
      verdict("thaw case 1\nschedule late\nprefill 0 5\nexpect slots@1.1\n"),
      "a.kv:4:16: expect: slots@1.1: with this schedule the oracles look once an op; leave out "
      "the step");
  EXPECT_EQ(verdict("thaw case 1\nschedule late\nprefill 0 5\nexpect slots@1\n"), "accepted");
}

TEST(Validate, columns_are_those_of_the_text_however_it_is_spaced) {
  EXPECT_EQ(verdict("thaw case 1\nprefill 0 3\n  crop \t 0    5  # too far\n"),
            "a.kv:3:15: crop: row 0 has length 3 here, cannot crop to 5 (L at most 3)");
  EXPECT_EQ(verdict("thaw case 1\n  decode x2\n"),
            "a.kv:2:3: decode: no live row here (row 0 idle); 'prefill ROWS N' or 'unpark ROWS' "
            "first");
  EXPECT_EQ(verdict("thaw case 1\nreset 0\n expect   slots@2\n"),
            "a.kv:3:17: expect: slots@2: the case has 1 op (settings, comments and expects are not "
            "counted)");
}

TEST(Validate, the_first_error_is_reported_and_expects_come_last) {
  EXPECT_EQ(verdict("thaw case 1\nexpect slots@9\npark 0\nreplay g\n"),
            "a.kv:3:6: park: row 0 is idle here, it has no sequence; 'prefill 0 N' first");
}

TEST(Validate, a_case_without_text_is_told_the_same_without_lines) {
  Case c;
  for (const Op& op : {ops::prefill(0, 2), ops::park(0), ops::prefill(0, 3)}) {
    c.ops.push_back({op, {}, {}, {}});
  }
  try {
    validate_case(c, "made");
    FAIL() << "accepted";
  } catch (const CaseError& error) {
    EXPECT_STREQ(error.what(), "made: prefill: row 0 is parked; 'unpark 0' first");
  }
}

TEST(Validate, R22_accepts_exactly_what_has_no_objection_on_the_way) {
  int64_t accepted = 0;
  int64_t rejected = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    RandomOps random(seed);
    Case c;
    c.settings.rows = random.between(1, 3);
    c.settings.slots = random.between(4, 8);
    Ledger ledger(c.settings);
    int64_t first_invalid = 0;
    // Mostly valid ops, so that an obstacle comes late in some cases and in others never.
    for (int64_t number = 1; number <= 12 && first_invalid == 0; ++number) {
      const Op op = random.op(c.settings.rows, c.settings.slots);
      const bool valid = !ledger.obstacle(op);
      if (!valid && random.between(0, 9) != 0) continue;
      c.ops.push_back({op, {}, {static_cast<int64_t>(c.ops.size()) + 1, 1}, {}});
      if (valid) {
        ledger.apply(op, static_cast<int64_t>(c.ops.size()));
      } else {
        first_invalid = static_cast<int64_t>(c.ops.size());
      }
    }
    int64_t reported = 0;
    try {
      validate_case(c, "random");
    } catch (const CaseError& error) {
      reported = error.position().line;
    }
    ASSERT_EQ(reported, first_invalid) << "seed " << seed;
    ++(first_invalid == 0 ? accepted : rejected);
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(rejected, 500);
}

}  // namespace
}  // namespace thaw
