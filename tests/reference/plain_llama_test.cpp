// SPDX-License-Identifier: Apache-2.0
#include "reference/plain_llama.h"

#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace thaw {
namespace {

constexpr int64_t slots = 4;

/// Entries of one layer, all different.
std::vector<float> some_entries(const LlamaSpec& spec, float first) {
  std::vector<float> entries(static_cast<size_t>(spec.kv_heads * slots * spec.dim));
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i] = std::sin(first + static_cast<float>(i));
  }
  return entries;
}

class PlainLlamaTest : public testing::Test {
 protected:
  PlainLlama::Result run(int64_t token, int64_t position, int64_t window = 0) {
    return plain_.run({.token = token,
                       .position = position,
                       .window = window,
                       .slots = slots,
                       .layers = {{keys_, values_}, {keys_, values_}}});
  }

  const c10::InferenceMode no_autograd_;
  const LlamaSpec spec_ = llama_spec(2, 4, 2, 8);
  const PlainLlama plain_{spec_, LlamaWeights(spec_, 1, at::kCPU)};
  std::vector<float> keys_ = some_entries(spec_, 1), values_ = some_entries(spec_, 2);
};

TEST_F(PlainLlamaTest, makes_one_entry_a_layer_and_an_output_for_every_word) {
  const PlainLlama::Result result = run(7, 2);
  ASSERT_EQ(result.keys.size(), 2U);
  EXPECT_EQ(result.keys[0].size(), 16U);
  EXPECT_EQ(result.values[1].size(), 16U);
  EXPECT_EQ(result.output.size(), 512U);
}

TEST_F(PlainLlamaTest, at_position_0_the_rotation_turns_nothing_and_later_it_keeps_lengths) {
  const auto length = [](const std::vector<double>& key) {
    double squares = 0;
    for (const double number : key) squares += number * number;
    return std::sqrt(squares);
  };
  const PlainLlama::Result at_0 = run(7, 0), at_3 = run(7, 3);
  EXPECT_NE(at_0.keys[0], at_3.keys[0]);
  EXPECT_NEAR(length(at_0.keys[0]), length(at_3.keys[0]), 1e-12);
  EXPECT_EQ(at_0.values[0], at_3.values[0]) << "values are not rotated";
}

TEST_F(PlainLlamaTest, every_visible_entry_counts_and_no_other_does) {
  const PlainLlama::Result before = run(7, 2);
  for (int64_t slot = 0; slot < slots; ++slot) {
    const float kept = values_[static_cast<size_t>(slot * spec_.dim)];
    values_[static_cast<size_t>(slot * spec_.dim)] += 1;
    EXPECT_EQ(run(7, 2).output != before.output, slot <= 2) << slot;
    values_[static_cast<size_t>(slot * spec_.dim)] = kept;
  }
}

TEST_F(PlainLlamaTest, a_window_hides_what_is_older) {
  const PlainLlama::Result before = run(7, 3, 2);
  values_[0] += 1;  // position 0
  EXPECT_EQ(run(7, 3, 2).output, before.output);
  values_[static_cast<size_t>(2 * spec_.dim)] += 1;  // position 2
  EXPECT_NE(run(7, 3, 2).output, before.output);
}

TEST_F(PlainLlamaTest, with_one_visible_entry_attention_is_that_value) {
  // Whatever the query, a softmax over one score is 1: keys do not matter at position 0.
  const PlainLlama::Result before = run(7, 0);
  for (float& key : keys_) key += 3;
  EXPECT_EQ(run(7, 0).output, before.output);
}

TEST(LlamaTolerance, grows_with_length_size_and_coarser_dtypes) {
  const LlamaSpec spec = llama_spec(2, 4, 2, 8);
  const double least = llama_tolerance(spec, 1, 0.1, at::kFloat);
  EXPECT_GT(least, 0);
  EXPECT_LT(least, 1e-4);
  EXPECT_GT(llama_tolerance(spec, 4096, 0.1, at::kFloat), least);
  EXPECT_GT(llama_tolerance(spec, 1, 10, at::kFloat), least);
  EXPECT_GT(llama_tolerance(spec, 1, 0.1, at::kHalf), least);
  EXPECT_GT(llama_tolerance(spec, 1, 0.1, at::kBFloat16), llama_tolerance(spec, 1, 0.1, at::kHalf));
}

}  // namespace
}  // namespace thaw
