// SPDX-License-Identifier: Apache-2.0
#include "decoder/llama_decoder.h"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "decoder/llama_subject.h"
#include "device/sim/sim_device.h"

namespace thaw {
namespace {

CacheSpec spec_on(c10::Device device, at::ScalarType dtype = at::kFloat) {
  CacheSpec spec;
  spec.rows = 3;
  spec.slots = 24;
  spec.q_len_max = 5;
  spec.device = device;
  spec.layers.assign(
      2, {.kv_heads = 2, .key_dim = 8, .value_dim = 8, .key_dtype = dtype, .value_dtype = dtype});
  return spec;
}

const std::vector<StepPlan>& plans() {
  static const std::vector<StepPlan> all{
      {.q_len = 5, .rows = {0, 1, 2}, .positions = {0, 0, 0}},
      {.q_len = 1, .rows = {0, 1, 2}, .positions = {5, 5, 5}},
      {.q_len = 3, .rows = {0, -1, 2}, .positions = {6, -1, 6}},
      {.q_len = 1, .rows = {0, 1, -1}, .positions = {9, 6, -1}},
      {.q_len = 4, .rows = {0, 1}, .positions = {20, 7}},
  };
  return all;
}

class LlamaDecoderOn : public testing::TestWithParam<at::ScalarType> {
 protected:
  c10::InferenceMode no_autograd_;
};

INSTANTIATE_TEST_SUITE_P(Dtypes, LlamaDecoderOn,
                         testing::Values(at::kFloat, at::kHalf, at::kBFloat16),
                         [](const auto& dtype) { return toString(dtype.param); });

TEST_P(LlamaDecoderOn, on_the_simulated_device_an_eager_step_has_the_bits_of_one_on_cpu) {
  SimDevice device;
  LlamaSubject there(spec_on(device.torch_device(), GetParam()), 4);
  LlamaSubject here(spec_on(at::kCPU, GetParam()), 4);
  for (const StepPlan& plan : plans()) {
    there.step(plan);
    here.step(plan);
    if (plan.rows == std::vector<int64_t>{0, 1, 2}) {
      EXPECT_TRUE(same_bits(there.contents(plan), here.contents(plan)));
    }
  }
  const StepPlan all{.q_len = 1, .rows = {0, 1, 2}, .positions = {23, 11, 9}};
  there.step(all);
  here.step(all);
  EXPECT_TRUE(same_bits(there.contents(all), here.contents(all)));
}

TEST_P(LlamaDecoderOn, a_replay_has_the_bits_of_an_eager_step_at_any_position) {
  SimDevice device;
  LlamaSubject replayed(spec_on(device.torch_device(), GetParam()), 4);
  LlamaSubject eager(spec_on(at::kCPU, GetParam()), 4);
  replayed.step(plans()[0]);
  eager.step(plans()[0]);
  StepPlan plan{.q_len = 1, .rows = {0, 1, 2}, .positions = {5, 5, 5}};
  replayed.refill(plan);
  const auto graph = device.capture([&] { replayed.enqueue(plan); });
  for (; plan.positions[0] < 24; ++plan.positions[0], plan.positions[2] += 2) {
    replayed.refill(plan);
    graph->replay();
    eager.step(plan);
    ASSERT_TRUE(same_bits(replayed.contents(plan), eager.contents(plan)))
        << "position " << plan.positions[0];
  }
}

class LlamaDecoderAlone : public testing::Test {
 protected:
  c10::InferenceMode no_autograd_;
};

TEST_F(LlamaDecoderAlone, what_lies_in_masked_slots_changes_nothing) {
  const StepPlan first = plans()[0], second = plans()[1];
  LlamaSubject clean(spec_on(at::kCPU)), littered(spec_on(at::kCPU));
  for (int64_t position = 6; position < 21; position += 5) {
    littered.step({.q_len = 5, .rows = {0, 1, 2}, .positions = {position, position, position}});
  }
  for (LlamaSubject* subject : {&clean, &littered}) {
    subject->step(first);
    subject->step(second);
  }
  EXPECT_TRUE(clean.contents(second).back().equal(littered.contents(second).back()));
}

TEST_F(LlamaDecoderAlone, a_token_attends_to_every_earlier_one_of_its_row_and_to_no_other_row) {
  // One entry of row 0 is written again, for another token; then all rows take a step.
  const auto output_with = [](int64_t position, int64_t other_token) {
    LlamaSubject subject(spec_on(at::kCPU));
    subject.step({.q_len = 4, .rows = {0, 1, 2}, .positions = {0, 0, 0}});
    subject.step({.q_len = 1, .rows = {0, -1, -1}, .positions = {position, -1, -1}}, other_token);
    const StepPlan last{.q_len = 1, .rows = {0, 1, 2}, .positions = {4, 4, 4}};
    subject.step(last);
    return subject.contents(last).back();
  };
  for (int64_t position = 0; position < 4; ++position) {
    const at::Tensor one = output_with(position, 1), other = output_with(position, 2);
    EXPECT_FALSE(one.select(1, 0).equal(other.select(1, 0))) << position;
    EXPECT_TRUE(one.narrow(1, 1, 2).equal(other.narrow(1, 1, 2))) << position;
  }
  EXPECT_TRUE(output_with(8, 1).equal(output_with(8, 2))) << "position 8 is not visible yet";
}

TEST_F(LlamaDecoderAlone, the_seed_makes_the_weights) {
  const CacheSpec spec = spec_on(at::kCPU);
  const LlamaSubject one(spec, 2, 1), again(spec, 2, 1), other(spec, 2, 2);
  const auto weights = [](const LlamaSubject& subject) {
    return subject.decoder().weights().layers[1].gate_up;
  };
  EXPECT_TRUE(weights(one).equal(weights(again)));
  EXPECT_FALSE(weights(one).equal(weights(other)));
}

TEST_F(LlamaDecoderAlone, sizes_follow_from_the_case_and_the_largest_stay_small) {
  EXPECT_EQ(llama_spec(2, 4, 2, 8).hidden, 32);
  EXPECT_EQ(llama_spec(16, 16, 16, 256).hidden, 256);
  EXPECT_EQ(llama_spec(16, 16, 16, 256).feed_forward, 512);
}

TEST_F(LlamaDecoderAlone, weights_are_constants_and_the_output_is_scratch) {
  const LlamaSubject subject(spec_on(at::kCPU));
  int64_t constants = 0;
  for (const Buffer& buffer : subject.decoder().buffers()) {
    if (buffer.role == Role::constant) ++constants;
    if (buffer.name == "output") {
      EXPECT_EQ(buffer.role, Role::scratch);
    }
  }
  EXPECT_EQ(constants, 3 + 2 * 6 + 2);
}

TEST_F(LlamaDecoderAlone, refuses_what_it_cannot_compute) {
  CacheSpec odd = spec_on(at::kCPU);
  for (LayerSpec& layer : odd.layers) layer.key_dim = layer.value_dim = 7;
  EXPECT_THROW(LlamaDecoder({.heads = 2}, odd), std::invalid_argument);
  CacheSpec uneven = spec_on(at::kCPU);
  uneven.layers[1].key_dim = 4;
  EXPECT_THROW(LlamaDecoder({.heads = 2}, uneven), std::invalid_argument);
  EXPECT_THROW(LlamaDecoder({.heads = 3}, spec_on(at::kCPU)), std::invalid_argument);
  LlamaSubject subject(spec_on(at::kCPU));
  EXPECT_THROW(subject.enqueue({.q_len = 6, .rows = {0}, .positions = {0}}), std::invalid_argument);
}

}  // namespace
}  // namespace thaw
