// SPDX-License-Identifier: Apache-2.0
#include "decoder/llama_weights.h"

#include <ATen/ops/empty.h>

#include <cmath>

namespace thaw {
namespace {

/// The generator splitmix64: a different stream for every seed, and the same everywhere.
class Numbers {
 public:
  explicit Numbers(int64_t seed) : state_(static_cast<uint64_t>(seed)) {}

  /// Between -bound and bound.
  float uniform(float bound) {
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    mixed ^= mixed >> 31;
    constexpr float unit = 1.0F / (1 << 23);
    return (static_cast<float>(mixed >> 40) * unit - 1.0F) * bound;
  }

 private:
  uint64_t state_;
};

/// Makes tensors on the host and moves them.
class Maker {
 public:
  Maker(int64_t seed, c10::Device device) : numbers_(seed), device_(device) {}

  /// Of variance 1 / inputs, which keeps activations near 1.
  at::Tensor matrix(int64_t inputs, int64_t outputs) {
    const float bound = std::sqrt(3.0F / static_cast<float>(inputs));
    return make({inputs, outputs}, [&](int64_t) { return numbers_.uniform(bound); });
  }
  /// Near 1 and all different, so that an exchanged element shows.
  at::Tensor gains(int64_t size) {
    return make({size}, [&](int64_t) { return 1.0F + numbers_.uniform(0.25F); });
  }
  at::Tensor embedding(int64_t vocabulary, int64_t hidden) {
    return make({vocabulary, hidden}, [&](int64_t) { return numbers_.uniform(1.7F); });
  }
  template <class Element>
  at::Tensor make(at::IntArrayRef sizes, Element element) {
    at::Tensor made = at::empty(sizes, at::TensorOptions().dtype(at::kFloat));
    float* to = made.mutable_data_ptr<float>();
    for (int64_t i = 0; i < made.numel(); ++i) to[i] = element(i);
    return made.to(device_);
  }

 private:
  Numbers numbers_;
  c10::Device device_;
};

}  // namespace

LlamaWeights::LlamaWeights(const LlamaSpec& spec, int64_t seed, c10::Device device) {
  Maker maker(seed, device);
  embedding = maker.embedding(spec.vocabulary, spec.hidden);
  for (int64_t i = 0; i < spec.layers; ++i) {
    layers.push_back(
        {.attention_norm = maker.gains(spec.hidden),
         .query_key_value = maker.matrix(spec.hidden, (spec.heads + 2 * spec.kv_heads) * spec.dim),
         .attention_output = maker.matrix(spec.heads * spec.dim, spec.hidden),
         .feed_forward_norm = maker.gains(spec.hidden),
         .gate_up = maker.matrix(spec.hidden, 2 * spec.feed_forward),
         .down = maker.matrix(spec.feed_forward, spec.hidden)});
  }
  norm = maker.gains(spec.hidden);
  inverse_frequencies = maker.make({spec.dim / 2}, [&](int64_t i) {
    return std::pow(spec.rope_base, -2.0F * static_cast<float>(i) / static_cast<float>(spec.dim));
  });
}

std::vector<Buffer> LlamaWeights::buffers() const {
  std::vector<Buffer> all{{"embedding", Role::constant, -1, embedding},
                          {"norm", Role::constant, -1, norm},
                          {"inverse_frequencies", Role::constant, -1, inverse_frequencies}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto add = [&](const char* name, const at::Tensor& tensor) {
      all.push_back({name, Role::constant, static_cast<int64_t>(i), tensor});
    };
    add("attention_norm", layers[i].attention_norm);
    add("query_key_value", layers[i].query_key_value);
    add("attention_output", layers[i].attention_output);
    add("feed_forward_norm", layers[i].feed_forward_norm);
    add("gate_up", layers[i].gate_up);
    add("down", layers[i].down);
  }
  return all;
}

}  // namespace thaw
