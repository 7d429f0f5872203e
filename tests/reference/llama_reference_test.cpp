// SPDX-License-Identifier: Apache-2.0
#include "reference/llama_reference.h"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace thaw {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A ledger and the reference that follows it, without a subject.
class LlamaReferenceTest : public testing::Test {
 protected:
  LlamaReferenceTest()
      : settings_(llama_settings()), ledger_(settings_), reference_(settings_, spec(), at::kCPU) {}

  static Settings llama_settings() {
    Settings settings;
    settings.decoder = DecoderKind::llama;
    settings.rows = 2;
    settings.layers = 2;
    return settings;
  }
  static CacheSpec spec() {
    CacheSpec spec;
    spec.rows = 2;
    spec.slots = 16;
    spec.q_len_max = 4;
    spec.layers.resize(2);
    return spec;
  }

  void step(const Op& op) {
    ++number_;
    ledger_.plan(op, plan_);
    ledger_.commit_step(op, number_);
    reference_.step(ledger_, plan_, number_, op.kind != OpKind::warmup);
  }
  void apply(const Op& op) {
    ledger_.apply_without_steps(op, ++number_);
    reference_.follow(ledger_);
  }
  std::vector<float> entry(const EntryName& name) {
    std::vector<float> elements(16);
    const Place place{.stride = sizeof(float), .dim = 16};
    reference_.put_entry(name, {}, at::kFloat, place,
                         reinterpret_cast<std::byte*>(elements.data()));
    return elements;
  }

  const c10::InferenceMode no_autograd_;
  Settings settings_;
  Ledger ledger_;
  LlamaReference reference_;
  StepPlan plan_;
  int64_t number_ = 0;
};

TEST_F(LlamaReferenceTest, agrees_with_plain_loops_and_says_how_nearly) {
  step({.kind = OpKind::prefill, .row = all_rows, .count = 4});
  EXPECT_FALSE(reference_.disagreement().has_value());
  step({.kind = OpKind::decode});
  EXPECT_FALSE(reference_.disagreement().has_value());
  EXPECT_THAT(reference_.comparison(),
              HasSubstr("its 10 tokens with plain loops: worst difference "));
  EXPECT_THAT(reference_.comparison(), HasSubstr(" (fp32, length "));
}

TEST_F(LlamaReferenceTest, an_entry_is_known_by_its_contents) {
  step({.kind = OpKind::prefill, .row = all_rows, .count = 4});
  const auto found = entry({.layer = 1, .row = 1, .head = 0, .position = 2, .role = Role::values});
  EXPECT_EQ(reference_.describe_entry(found),
            "row 1, position 2, written by op 1 (value, layer 1, head 0)");
  std::vector<float> damaged = found;
  damaged[3] += 0.5F;
  EXPECT_THAT(reference_.describe_entry(damaged), StartsWith("no entry of this case: "));
  EXPECT_EQ(reference_.describe_entry(std::vector<float>(16, -96.0F)), "nothing (unowned)");
}

TEST_F(LlamaReferenceTest, entries_follow_their_rows) {
  step({.kind = OpKind::prefill, .row = 0, .count = 4});
  step({.kind = OpKind::prefill, .row = 1, .count = 2});
  const EntryName of_row_0{.layer = 1, .row = 0, .head = 0, .position = 1, .role = Role::keys};
  const EntryName of_row_1{.layer = 1, .row = 1, .head = 0, .position = 1, .role = Role::keys};
  const std::vector<float> zero = entry(of_row_0), one = entry(of_row_1);
  ASSERT_NE(zero, one);
  apply({.kind = OpKind::reorder, .order = {1, 0}});
  EXPECT_EQ(entry(of_row_0), one);
  EXPECT_EQ(entry(of_row_1), zero);
  apply({.kind = OpKind::copy, .row = 0, .to = 1});
  EXPECT_EQ(entry(of_row_1), one);
}

TEST_F(LlamaReferenceTest, the_same_tokens_written_anew_are_another_entry) {
  const EntryName name{.layer = 0, .row = 0, .head = 0, .position = 3, .role = Role::keys};
  step({.kind = OpKind::prefill, .row = 0, .count = 4});
  const std::vector<float> before = entry(name);
  apply({.kind = OpKind::crop, .row = 0, .count = 3});
  step({.kind = OpKind::decode});
  EXPECT_NE(entry(name), before);
  EXPECT_THAT(reference_.describe_entry(entry(name)), HasSubstr("written by op 3"));
  EXPECT_THAT(reference_.describe_entry(before), HasSubstr("written by op 1"));
}

TEST_F(LlamaReferenceTest, an_output_is_said_by_its_next_token_and_its_distance) {
  step({.kind = OpKind::prefill, .row = 0, .count = 4});
  const OutputName name{.part = 0, .row = 0, .head = 0, .position = 3};
  const auto expected = reference_.output(name);
  EXPECT_THAT(reference_.describe_output(name, expected), StartsWith("next token "));
  EXPECT_THAT(reference_.describe_output(name, expected), Not(HasSubstr("differ")));
  std::vector<float> other(expected.begin(), expected.end());
  other[17] += 100;
  EXPECT_EQ(reference_.describe_output(name, other), "next token 17; logits differ by up to 100");
  std::memset(other.data(), 0xFF, other.size() * sizeof(float));
  EXPECT_EQ(reference_.describe_output(name, other), "0xFF bytes");
}

}  // namespace
}  // namespace thaw
