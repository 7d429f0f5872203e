// SPDX-License-Identifier: Apache-2.0
// Canonical form: equal for cases that can only have equal verdicts.
#include <gtest/gtest.h>

#include "case/case_text.h"

namespace thaw {
namespace {

std::string canonical(std::string_view lines) {
  return canonical_form(parse_case("thaw case 1\n" + std::string(lines), "a.kv"));
}

TEST(CanonicalForm, is_normal_form_without_comments_and_expects) {
  EXPECT_EQ(canonical("# about\nslots 16 # default\nseed 3 # kept\n# op\nprefill 0 5 # five\n"
                      "decode x1\nexpect slots@1\nexpect static clean\n# end\n"),
            "thaw case 1\nseed 3\nprefill 0 5\ndecode\n");
}

TEST(CanonicalForm, renames_graphs_by_first_use) {
  EXPECT_EQ(canonical("prefill 0 5\ncapture b\ncapture a q=2\nreplay a\nreplay b\ndrop a\n"),
            "thaw case 1\nprefill 0 5\ncapture g0\ncapture g1 q=2\nreplay g1\nreplay g0\n"
            "drop g1\n");
}

TEST(CanonicalForm, renames_pools_by_first_use_and_keeps_own_pools_apart) {
  EXPECT_EQ(canonical("capture a pool=g0\ncapture b\ncapture c pool=x\ncapture d pool=g0\n"),
            "thaw case 1\ncapture g0 pool=p0\ncapture g1\ncapture g2 pool=p1\n"
            "capture g3 pool=p0\n");
}

TEST(CanonicalForm, knows_that_sleep_makes_all_rows_idle) {
  EXPECT_EQ(canonical("rows 2\nprefill all 2\npark 0\nsleep\nprefill all 3\n"),
            "thaw case 1\nrows 2\nprefill all 2\npark 0\nsleep\nprefill all 3\n");
  EXPECT_EQ(canonical("rows 2\nprefill 0 2\nprefill 1 2\npark 0\nsleep\nprefill 1 2\npark all\n"),
            "thaw case 1\nrows 2\nprefill 0 2\nprefill 1 2\npark 0\nsleep\nprefill 1 2\n"
            "park 1\n");
}

TEST(CanonicalForm, keeps_names_apart_that_look_like_its_own) {
  EXPECT_EQ(canonical("capture g1\ncapture g0\nreplay g1\n"),
            "thaw case 1\ncapture g0\ncapture g1\nreplay g0\n");
}

TEST(CanonicalForm, drops_a_churn_that_neither_frees_nor_takes) {
  EXPECT_EQ(canonical("churn 0\nprefill 0 5\nchurn 0\ndecode\n"),
            "thaw case 1\nprefill 0 5\ndecode\n");
}

TEST(CanonicalForm, keeps_a_churn_that_frees_what_the_last_one_took) {
  EXPECT_EQ(canonical("churn 4\nchurn 0\nchurn 0\ndecode\n"),
            "thaw case 1\nchurn 4\nchurn 0\ndecode\n");
}

TEST(CanonicalForm, names_the_row_where_all_means_the_only_one) {
  EXPECT_EQ(canonical("prefill all 5\ncrop all 3\npark all\nunpark all\nload all 2\nreset all\n"),
            "thaw case 1\nprefill 0 5\ncrop 0 3\npark 0\nunpark 0\nload 0 2\nreset 0\n");
}

TEST(CanonicalForm, keeps_all_where_it_means_several_rows) {
  const std::string text =
      "thaw case 1\nrows 2\nprefill all 5\ncrop all 3\npark all\nunpark all\nreset all\n";
  EXPECT_EQ(canonical_form(parse_case(text, "a.kv")), text);
}

TEST(CanonicalForm, follows_which_rows_are_idle_live_and_parked) {
  // Two live rows; one is parked: prefill, crop and park mean the other one, unpark the first.
  EXPECT_EQ(canonical("rows 2\nprefill all 5\npark 1\nprefill all 2\ncrop all 3\nunpark all\n"),
            "thaw case 1\nrows 2\nprefill all 5\npark 1\nprefill 0 2\ncrop 0 3\nunpark 1\n");
  EXPECT_EQ(canonical("rows 2\nload 1 5\npark all\nload all 2\n"),
            "thaw case 1\nrows 2\nload 1 5\npark 1\nload 0 2\n");
  EXPECT_EQ(canonical("rows 2\nprefill 0 5\ncopy 0 1\ncrop all 2\nreset 0\ncrop all 1\n"),
            "thaw case 1\nrows 2\nprefill 0 5\ncopy 0 1\ncrop all 2\nreset 0\ncrop 1 1\n");
  EXPECT_EQ(canonical("rows 2\nprefill 0 5\nreorder 1 0\ncrop all 2\n"),
            "thaw case 1\nrows 2\nprefill 0 5\nreorder 1 0\ncrop 1 2\n");
}

TEST(CanonicalForm, resets_of_all_rows_mean_all_rows_whatever_their_state) {
  EXPECT_EQ(canonical("rows 2\nprefill 0 5\nreset all\n"),
            "thaw case 1\nrows 2\nprefill 0 5\nreset all\n");
}

TEST(CanonicalForm, writes_the_mode_that_counter_alone_means) {
  EXPECT_EQ(canonical("cache counter\ndecode\n"), canonical("cache counter:host_int\ndecode\n"));
}

TEST(CanonicalForm, tells_cases_apart_that_can_have_other_verdicts) {
  const std::string_view cases[] = {"prefill 0 5\n",          "prefill 0 6\n",
                                    "seed 2\nprefill 0 5\n",  "rows 2\nprefill 0 5\n",
                                    "rows 2\nprefill 1 5\n",  "prefill 0 5\ndecode\n",
                                    "prefill 0 5\nwarmup\n",  "prefill 0 5\ndecode x2\n",
                                    "prefill 0 5\nchurn 1\n", "prefill 0 5\ndecode\ndecode\n"};
  for (const std::string_view a : cases) {
    for (const std::string_view b : cases) EXPECT_EQ(canonical(a) == canonical(b), a == b);
  }
}

TEST(CanonicalForm, is_itself_a_case_in_canonical_form) {
  const std::string once = canonical("rows 2\nprefill all 5\nchurn 0\ncapture z\nreplay z x3\n");
  EXPECT_EQ(canonical_form(parse_case(once, "a.kv")), once);
}

}  // namespace
}  // namespace thaw
