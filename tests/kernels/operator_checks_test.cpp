// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/operators.h"

namespace thaw {
namespace {

using testing::HasSubstr;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "no error";
}

/// Arguments that every operator takes; a test spoils one of them.
struct Arguments {
  at::Tensor keys = at::zeros({2, 1, 8, 16}), values = at::zeros({2, 1, 8, 16});
  at::Tensor new_keys = at::zeros({2, 1, 1, 16}), new_values = at::zeros({2, 1, 1, 16});
  at::Tensor rows = at::zeros({2}, at::kLong), positions = at::zeros({2}, at::kLong);
  at::Tensor refused = at::zeros({}, at::kLong), generation = at::zeros({1}, at::kLong);
  at::Tensor out = at::zeros({2, 2, 1, 16});
  at::Tensor block_table;
  int64_t window = 0;

  std::string append() const {
    return error_of([&] { ops::append_(keys, values, new_keys, new_values, rows, positions); });
  }
  std::string count() const {
    return error_of([&] { ops::count_refused_(refused, rows, positions, 1, 8); });
  }
  std::string tag() const {
    return error_of([&] { ops::tag_(new_keys, new_values, rows, positions, generation, 0); });
  }
  std::string sum() const {
    return error_of(
        [&] { ops::visible_sum_(out, keys, values, block_table, rows, positions, window, false); });
  }
};

TEST(OperatorChecks, unspoiled_arguments_pass) {
  const Arguments a;
  EXPECT_EQ(a.append(), "no error");
  EXPECT_EQ(a.count(), "no error");
  EXPECT_EQ(a.tag(), "no error");
  EXPECT_EQ(a.sum(), "no error");
}

TEST(OperatorChecks, positions_that_are_not_int64_are_refused) {
  Arguments a;
  a.positions = at::zeros({2}, at::kInt);
  for (const auto& error : {a.append(), a.count(), a.tag(), a.sum()}) {
    EXPECT_THAT(error, HasSubstr("positions must be contiguous int64, but is Int"));
  }
}

TEST(OperatorChecks, rows_and_positions_of_different_length_are_refused) {
  Arguments a;
  a.rows = at::zeros({3}, at::kLong);
  for (const auto& error : {a.append(), a.count(), a.tag(), a.sum()}) {
    EXPECT_THAT(error, HasSubstr("one entry a place, but have sizes [3] and [2]"));
  }
}

TEST(OperatorChecks, places_that_do_not_fit_are_refused) {
  Arguments a;
  a.rows = a.positions = at::zeros({3}, at::kLong);
  EXPECT_THAT(a.append(), HasSubstr("do not fit keys [2, 1, 8, 16]"));
  EXPECT_THAT(a.tag(), HasSubstr("do not fit each other and 3 places"));
  EXPECT_THAT(a.sum(), HasSubstr("does not fit 3 places"));
}

TEST(OperatorChecks, another_dtype_than_the_caches_is_refused) {
  Arguments a;
  a.new_values = at::zeros({2, 1, 1, 16}, at::kHalf);
  EXPECT_THAT(a.append(), HasSubstr("but have Float and Half"));
}

TEST(OperatorChecks, entries_with_gaps_between_their_elements_are_refused) {
  Arguments a;
  a.keys = at::zeros({2, 1, 16, 8}).transpose(2, 3);
  EXPECT_THAT(a.append(), HasSubstr("elements of an entry of keys must lie side by side"));
  EXPECT_THAT(a.sum(), HasSubstr("elements of an entry of keys must lie side by side"));
}

TEST(OperatorChecks, sizes_that_disagree_are_refused) {
  Arguments a;
  a.values = at::zeros({2, 1, 9, 16});
  EXPECT_THAT(a.append(), HasSubstr("differ in more than the last dimension"));
  EXPECT_THAT(a.sum(), HasSubstr("do not fit each other"));
  a.values = at::zeros({2, 8, 16});
  EXPECT_THAT(a.append(), HasSubstr("values needs four dimensions"));
}

TEST(OperatorChecks, tags_need_twelve_elements_of_a_dtype_that_holds_digits) {
  Arguments a;
  a.new_keys = at::zeros({2, 1, 1, 11});
  EXPECT_THAT(a.tag(), HasSubstr("a tag is 12 elements long"));
  a.new_keys = at::zeros({2, 1, 1, 16}, at::kChar);
  EXPECT_THAT(a.tag(), HasSubstr("new_keys has dtype Char"));
}

TEST(OperatorChecks, counters_and_generations_are_one_int64) {
  Arguments a;
  a.refused = at::zeros({2}, at::kLong);
  EXPECT_THAT(a.count(), HasSubstr("refused must be one int64"));
  a.generation = at::zeros({2}, at::kLong);
  EXPECT_THAT(a.tag(), HasSubstr("generation must be one int64"));
}

TEST(OperatorChecks, sums_need_fp32_multiples_of_kv_heads_tables_by_row_and_windows_from_zero) {
  Arguments a;
  a.out = at::zeros({2, 2, 1, 16}, at::kHalf);
  EXPECT_THAT(a.sum(), HasSubstr("out must be contiguous Float"));
  a = {};
  a.keys = a.values = at::zeros({2, 3, 8, 16});
  EXPECT_THAT(a.sum(), HasSubstr("2 query heads are no multiple of 3 kv heads"));
  a = {};
  a.block_table = at::zeros({4}, at::kLong);
  EXPECT_THAT(a.sum(), HasSubstr("block_table must be [rows, blocks_of_a_row]"));
  a = {};
  a.window = -1;
  EXPECT_THAT(a.sum(), HasSubstr("window -1 is negative"));
}

}  // namespace
}  // namespace thaw
