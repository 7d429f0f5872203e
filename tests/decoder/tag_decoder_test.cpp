// SPDX-License-Identifier: Apache-2.0
#include "decoder/tag_decoder.h"

#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "decoder/tag_subject.h"
#include "device/sim/sim_device.h"

namespace thaw {
namespace {

CacheSpec spec_of(Kernels kernels, c10::Device device = at::kCPU) {
  CacheSpec spec;
  spec.rows = 2;
  spec.slots = 16;
  spec.q_len_max = 5;
  spec.kernels = kernels;
  spec.device = device;
  spec.layers.assign(2, {.kv_heads = 2});
  return spec;
}

class TagDecoderOn : public testing::TestWithParam<Kernels> {
 protected:
  c10::InferenceMode mode_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, TagDecoderOn,
                         testing::Values(Kernels::registered, Kernels::torch),
                         [](const auto& kernels) {
                           return kernels.param == Kernels::torch ? "torch" : "registered";
                         });

TEST_P(TagDecoderOn, writes_tags_and_sums_what_each_token_sees) {
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn}) {
    CacheSpec spec = spec_of(GetParam());
    for (LayerSpec& layer : spec.layers) layer.key_dtype = layer.value_dtype = dtype;
    TagSubject subject(spec, 4);
    subject.step({5, {0, 1}, {0, 0}}, 1);
    EXPECT_EQ(subject.differences(), "") << dtype;
    subject.step({1, {0, 1}, {5, 3}}, 2);
    EXPECT_EQ(subject.differences(), "") << dtype;
    subject.step({3, {1, 0}, {4, 6}}, 70000);
    EXPECT_EQ(subject.differences(), "") << dtype;
  }
}

TEST_P(TagDecoderOn, past_the_last_slot_tokens_see_all_slots) {
  TagSubject subject(spec_of(GetParam()));
  for (int64_t position = 0; position < 16; position += 4) {
    subject.step({4, {0}, {position}}, position + 1);
  }
  subject.step({5, {0}, {14}}, 20);
  EXPECT_EQ(subject.differences(), "");
  subject.step({1, {0}, {16}}, 21);
  EXPECT_EQ(subject.differences(), "");
}

TEST_P(TagDecoderOn, a_padded_place_keeps_its_output_and_its_row) {
  TagSubject subject(spec_of(GetParam()));
  subject.step({1, {0, 1}, {0, 0}}, 1);
  const at::Tensor before = subject.output().clone();
  subject.step({1, {-1, 1}, {-1, 1}}, 2);
  EXPECT_EQ(subject.differences(), "");
  EXPECT_TRUE(subject.output().select(1, 0).equal(before.select(1, 0)));
  EXPECT_FALSE(subject.output().select(1, 1).equal(before.select(1, 1)));
}

TEST_P(TagDecoderOn, an_entry_in_a_wrong_slot_is_found_by_this_tests_reference) {
  TagSubject subject(spec_of(GetParam()));
  subject.step({2, {0, 1}, {0, 0}}, 1);
  subject.refill({1, {0, 1}, {2, 2}}, 2);
  subject.enqueue(2, 1);
  subject.refill({1, {0, 1}, {3, 2}}, 2);  // not what ran
  subject.expect_written();
  EXPECT_THAT(subject.differences(),
              testing::HasSubstr("slot (row 0, position 3) holds no tag: 0, 0, 0, 0, 0, 0, 0, 0, "
                                 "0, 0, 0, 0, ..., not row 0, "
                                 "position 3, written by op 2 (key, layer 0, head 0)"));
}

TEST(TagDecoder, kernels_give_equal_bits) {
  const c10::InferenceMode mode;
  TagSubject registered(spec_of(Kernels::registered)), torch(spec_of(Kernels::torch));
  for (TagSubject* subject : {&registered, &torch}) {
    subject->step({5, {0, 1}, {0, 0}}, 1);
    subject->step({2, {1, -1}, {15, -1}}, 2);
    subject->step({1, {1, 0}, {16, 5}}, 3);
  }
  const auto a = registered.contents(), b = torch.contents();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(a[i].equal(b[i])) << i;
}

// ------------------------------------------------------------------------ on the simulated device

TEST_P(TagDecoderOn, a_replay_with_refilled_inputs_does_what_an_eager_step_does) {
  SimDevice device;
  TagSubject replayed(spec_of(GetParam(), device.torch_device()));
  TagSubject eager(spec_of(GetParam(), device.torch_device()));
  for (TagSubject* subject : {&replayed, &eager}) subject->step({5, {0, 1}, {0, 0}}, 1);
  replayed.refill({1, {0, 1}, {5, 5}}, 2);
  const auto graph = device.capture([&] { replayed.enqueue(2, 1); });
  EXPECT_EQ(replayed.differences().empty(), false) << "a capture runs nothing";

  const std::vector<StepPlan> plans{
      {1, {0, 1}, {5, 5}}, {1, {1, 0}, {6, 6}}, {1, {-1, 0}, {-1, 7}}, {1, {0, 1}, {16, 7}}};
  int64_t generation = 2;
  for (const StepPlan& plan : plans) {
    replayed.refill(plan, ++generation);
    graph->replay();
    replayed.expect_written();
    eager.step(plan, generation);
    if (plan.positions[0] < 16) {
      EXPECT_EQ(replayed.differences(), "");
    }
    const auto a = replayed.contents(), b = eager.contents();
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(a[i].equal(b[i])) << "op " << generation << ", tensor " << i;
    }
  }
}

TEST_P(TagDecoderOn, a_step_has_few_nodes_with_registered_operators_and_many_without) {
  SimDevice device;
  CacheSpec spec = spec_of(GetParam(), device.torch_device());
  spec.layers.resize(1);
  TagSubject subject(spec);
  const auto graph = device.capture([&] { subject.enqueue(2, 1); });
  RecordProperty("nodes", static_cast<int>(graph->node_count()));
  if (GetParam() == Kernels::registered) {
    EXPECT_EQ(graph->node_count(), 4U);
  } else {
    EXPECT_GT(graph->node_count(), 20U);
    EXPECT_LT(graph->node_count(), 140U);
  }
}

// ------------------------------------------------------------------------------------------ limits

std::string error_of(const DecoderSpec& decoder, const CacheSpec& cache) {
  try {
    const TagDecoder made(decoder, cache);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

TEST(TagDecoder, states_its_limits) {
  using testing::HasSubstr;
  const CacheSpec good = spec_of(Kernels::registered);
  EXPECT_EQ(error_of({}, good), "no error");

  CacheSpec spec = good;
  spec.layers.clear();
  EXPECT_THAT(error_of({}, spec), HasSubstr("no layers"));
  spec = good;
  spec.layers[1].kv_heads = 1;
  EXPECT_THAT(error_of({}, spec), HasSubstr("layers differ"));
  spec = good;
  for (LayerSpec& layer : spec.layers) layer.value_dim = 12;
  EXPECT_THAT(error_of({}, spec), HasSubstr("keys of 16 elements and values of 12"));
  for (LayerSpec& layer : spec.layers) layer.key_dim = layer.value_dim = 11;
  EXPECT_THAT(error_of({}, spec), HasSubstr("a tag has 12 elements, an entry 11"));
  spec = good;
  spec.rows = 17;
  EXPECT_THAT(error_of({}, spec), HasSubstr("at most 16"));
  EXPECT_THAT(error_of({.heads = 3}, good), HasSubstr("3 query heads are no multiple of 2"));
}

TEST(TagDecoder, refuses_steps_larger_than_its_buffers) {
  const TagDecoder decoder({}, spec_of(Kernels::registered));
  EXPECT_EQ(decoder.output(2, 5).sizes(), at::IntArrayRef({2, 2, 2, 5, 16}));
  EXPECT_THROW(decoder.output(3, 1), std::invalid_argument);
  EXPECT_THROW(decoder.output(1, 6), std::invalid_argument);
  EXPECT_THROW(decoder.output(0, 1), std::invalid_argument);
}

TEST(TagDecoder, its_buffers_never_move_and_hold_all_outputs) {
  const c10::InferenceMode mode;
  TagSubject subject(spec_of(Kernels::registered));
  const auto before = subject.decoder().buffers();
  subject.step({5, {0, 1}, {0, 0}}, 1);
  subject.step({1, {0}, {5}}, 2);
  const auto after = subject.decoder().buffers();
  ASSERT_EQ(before.size(), 3U);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].name, after[i].name);
    EXPECT_EQ(before[i].tensor.const_data_ptr(), after[i].tensor.const_data_ptr());
  }
  EXPECT_EQ(after[2].name, "output");
  EXPECT_EQ(subject.output().storage().data(), after[2].tensor.storage().data());
}

}  // namespace
}  // namespace thaw
