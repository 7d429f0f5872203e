// SPDX-License-Identifier: Apache-2.0
#include "decoder/llama_decoder.h"

#include <ATen/ops/_softmax.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace thaw {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument("llama decoder: " + what);
}

bool alike(const LayerSpec& a, const LayerSpec& b) {
  return a.kv_heads == b.kv_heads && a.key_dim == b.key_dim && a.value_dim == b.value_dim &&
         a.key_dtype == b.key_dtype && a.value_dtype == b.value_dtype;
}

LlamaSpec checked_spec(const DecoderSpec& decoder, const CacheSpec& cache) {
  require(!cache.layers.empty(), "the cache has no layers");
  const LayerSpec& layer = cache.layers.front();
  for (const LayerSpec& other : cache.layers) require(alike(layer, other), "layers differ");
  require(layer.key_dim == layer.value_dim,
          fmt::format("keys of {} elements and values of {}; expected one size", layer.key_dim,
                      layer.value_dim));
  require(layer.key_dim >= 2 && layer.key_dim % 2 == 0,
          fmt::format("a rotation turns pairs of elements, and {} is not even", layer.key_dim));
  require(
      layer.kv_heads > 0 && decoder.heads > 0 && decoder.heads % layer.kv_heads == 0,
      fmt::format("{} query heads are no multiple of {} kv heads", decoder.heads, layer.kv_heads));
  return llama_spec(static_cast<int64_t>(cache.layers.size()), decoder.heads, layer.kv_heads,
                    layer.key_dim);
}

/// What attention reads, as fp32 [places * kv_heads, slots, dim].
at::Tensor entries(const at::Tensor& cache, const at::Tensor& block_table, int64_t places) {
  if (!block_table.defined()) {
    const at::Tensor rows = cache.narrow(0, 0, places);
    return rows.to(at::kFloat).reshape({places * cache.size(1), cache.size(2), cache.size(3)});
  }
  const int64_t blocks = block_table.size(1);
  const at::Tensor wanted =
      at::clamp_min(block_table.narrow(0, 0, places).reshape({places * blocks}), 0);
  const at::Tensor gathered = at::index_select(cache, 0, wanted);
  return gathered.to(at::kFloat)
      .view({places, blocks, cache.size(1), cache.size(2), cache.size(3)})
      .transpose(1, 2)
      .reshape({places * cache.size(1), blocks * cache.size(2), cache.size(3)});
}

}  // namespace

LlamaDecoder::LlamaDecoder(const DecoderSpec& decoder, const CacheSpec& cache)
    : spec_(cache),
      llama_(checked_spec(decoder, cache)),
      weights_(llama_, decoder.seed, cache.device) {
  const auto integers = at::TensorOptions().dtype(at::kLong).device(cache.device);
  slot_numbers_ = at::arange(cache.slots, integers);
  token_numbers_ = at::arange(cache.q_len_max, integers);
  output_ = at::zeros({cache.rows * cache.q_len_max * llama_.vocabulary},
                      at::TensorOptions().dtype(at::kFloat).device(cache.device));
}

void LlamaDecoder::step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) {
  check_shape(places, q_len);
  const int64_t tokens = places * q_len;
  const int64_t heads = llama_.heads, kv_heads = llama_.kv_heads, dim = llama_.dim;
  const at::Tensor positions = token_positions(inputs, places, q_len);
  const Rotation turn = rotation(positions);
  const at::Tensor ids = inputs.tokens.narrow(0, 0, places).narrow(1, 0, q_len).reshape({tokens});
  at::Tensor x = at::index_select(weights_.embedding, 0, ids);
  at::Tensor hidden;

  cache.begin_step(places, q_len);
  for (size_t i = 0; i < weights_.layers.size(); ++i) {
    const LlamaWeights::Layer& layer = weights_.layers[i];
    const LayerSpec& entry = spec_.layers[i];
    const at::Tensor mixed = at::mm(normalized(x, layer.attention_norm), layer.query_key_value)
                                 .view({places, q_len, heads + 2 * kv_heads, dim});
    const at::Tensor turned = rotated(mixed.narrow(2, 0, heads + kv_heads), turn);
    const at::Tensor keys = turned.narrow(2, heads, kv_heads).transpose(1, 2);
    const at::Tensor values = mixed.narrow(2, heads + kv_heads, kv_heads).transpose(1, 2);
    const KeysValues seen = cache.update(static_cast<int64_t>(i), keys.to(entry.key_dtype),
                                         values.to(entry.value_dtype));
    if (!hidden.defined()) {
      const int64_t blocks = seen.block_table.defined() ? seen.block_table.size(1) : 1;
      hidden = hidden_slots(positions, blocks * seen.keys.size(2));
    }
    const at::Tensor attended =
        attention(turned.narrow(2, 0, heads), seen, hidden, {places, q_len});
    x = at::add(x, at::mm(attended, layer.attention_output));
    x = at::add(x, feed_forward(x, layer));
  }
  cache.end_step();

  at::Tensor logits = output(places, q_len).view({tokens, llama_.vocabulary});
  at::mm_out(logits, normalized(x, weights_.norm), weights_.embedding.t());
}

at::Tensor LlamaDecoder::output(int64_t places, int64_t q_len) const {
  check_shape(places, q_len);
  return output_.narrow(0, 0, places * q_len * llama_.vocabulary)
      .view({1, places, 1, q_len, llama_.vocabulary});
}

std::vector<Buffer> LlamaDecoder::buffers() const {
  std::vector<Buffer> all = weights_.buffers();
  all.push_back({"slot_numbers", Role::constant, -1, slot_numbers_});
  all.push_back({"token_numbers", Role::constant, -1, token_numbers_});
  all.push_back({"output", Role::scratch, -1, output_});
  return all;
}

void LlamaDecoder::check_shape(int64_t places, int64_t q_len) const {
  require(places >= 1 && places <= spec_.rows && q_len >= 1 && q_len <= spec_.q_len_max,
          fmt::format("a step of {} places with {} tokens; made for 1 to {} places with 1 to {}",
                      places, q_len, spec_.rows, spec_.q_len_max));
}

at::Tensor LlamaDecoder::token_positions(const StepInputs& inputs, int64_t places, int64_t q_len) {
  const at::Tensor first = at::clamp_min(inputs.positions.narrow(0, 0, places), 0);
  return at::add(first.unsqueeze(1), token_numbers_.narrow(0, 0, q_len));
}

at::Tensor LlamaDecoder::hidden_slots(const at::Tensor& positions, int64_t slots) {
  const int64_t places = positions.size(0), q_len = positions.size(1);
  const at::Tensor of_token = positions.view({places, 1, q_len, 1});
  const at::Tensor slot_numbers =
      slot_numbers_.size(0) == slots ? slot_numbers_ : at::arange(slots, slot_numbers_.options());
  const at::Tensor later = at::gt(slot_numbers, of_token);
  if (spec_.window == 0) return later;
  return at::logical_or(later, at::le(slot_numbers, at::sub(of_token, spec_.window)));
}

at::Tensor LlamaDecoder::normalized(const at::Tensor& x, const at::Tensor& gains) const {
  const at::Tensor mean = at::mean(at::mul(x, x), {-1}, /*keepdim=*/true);
  return at::mul(at::mul(x, at::rsqrt(at::add(mean, llama_.epsilon))), gains);
}

LlamaDecoder::Rotation LlamaDecoder::rotation(const at::Tensor& positions) const {
  const at::Tensor angles =
      at::mul(positions.to(at::kFloat).unsqueeze(-1).unsqueeze(-1), weights_.inverse_frequencies);
  return {at::cos(angles), at::sin(angles)};
}

/// Element i of the first half of a head and element i of the second are a pair that turns.
at::Tensor LlamaDecoder::rotated(const at::Tensor& heads, const Rotation& by) {
  const int64_t half = heads.size(-1) / 2;
  const at::Tensor first = heads.narrow(-1, 0, half);
  const at::Tensor second = heads.narrow(-1, half, half);
  return at::cat({at::sub(at::mul(first, by.cosines), at::mul(second, by.sines)),
                  at::add(at::mul(second, by.cosines), at::mul(first, by.sines))},
                 -1);
}

/// queries [places, q_len, heads, dim]; returns [tokens, heads * dim]. The query heads that share a
/// kv head are more rows of one product with it.
at::Tensor LlamaDecoder::attention(const at::Tensor& queries, const KeysValues& seen,
                                   const at::Tensor& hidden, Shape shape) const {
  const auto [places, q_len] = shape;
  const int64_t heads = llama_.heads, kv_heads = llama_.kv_heads, dim = llama_.dim;
  const int64_t of_kv_head = heads / kv_heads * q_len;
  const at::Tensor grouped = queries.transpose(1, 2).reshape({places * kv_heads, of_kv_head, dim});
  const at::Tensor keys = entries(seen.keys, seen.block_table, places);
  const int64_t slots = keys.size(1);
  const double scale = 1.0 / std::sqrt(static_cast<double>(dim));
  const at::Tensor scores =
      at::mul(at::bmm(grouped, keys.transpose(1, 2)), scale).view({places, heads, q_len, slots});
  const at::Tensor weights = at::_softmax(
      at::masked_fill(scores, hidden, -std::numeric_limits<double>::infinity()), -1, false);
  const at::Tensor values = entries(seen.values, seen.block_table, places);
  return at::bmm(weights.view({places * kv_heads, of_kv_head, slots}), values)
      .view({places, heads, q_len, dim})
      .transpose(1, 2)
      .reshape({places * q_len, heads * dim});
}

at::Tensor LlamaDecoder::feed_forward(const at::Tensor& x, const LlamaWeights::Layer& layer) const {
  const at::Tensor both = at::mm(normalized(x, layer.feed_forward_norm), layer.gate_up);
  const at::Tensor gate = at::silu(both.narrow(1, 0, llama_.feed_forward));
  return at::mm(at::mul(gate, both.narrow(1, llama_.feed_forward, llama_.feed_forward)),
                layer.down);
}

}  // namespace thaw
