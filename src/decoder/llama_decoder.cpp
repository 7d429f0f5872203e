// SPDX-License-Identifier: Apache-2.0
#include "decoder/llama_decoder.h"

#include <ATen/ops/_softmax.h>
#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/le.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
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

int64_t scratch_bytes(const LlamaSpec& llama, const CacheSpec& cache) {
  return llama_scratch_numbers(llama, cache.rows, cache.slots, cache.q_len_max) *
         static_cast<int64_t>(sizeof(float));
}

}  // namespace

LlamaDecoder::LlamaDecoder(const DecoderSpec& decoder, const CacheSpec& cache)
    : spec_(cache),
      llama_(checked_spec(decoder, cache)),
      weights_(llama_, decoder.seed, cache.device),
      scratch_(scratch_bytes(llama_, cache), cache.device) {
  const auto integers = at::TensorOptions().dtype(at::kLong).device(cache.device);
  slot_numbers_ = at::arange(2 * cache.slots, integers);
  token_numbers_ = at::arange(cache.q_len_max, integers);
  output_ = at::zeros({cache.rows * cache.q_len_max * llama_.vocabulary},
                      at::TensorOptions().dtype(at::kFloat).device(cache.device));
}

void LlamaDecoder::step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) {
  check_shape(places, q_len);
  scratch_.rewind(0);
  const int64_t tokens = places * q_len;
  const int64_t heads = llama_.heads, kv_heads = llama_.kv_heads, dim = llama_.dim;
  const at::Tensor positions = token_positions(inputs, places, q_len);
  const Rotation turn = rotation(positions);
  const at::Tensor x = embedded(inputs, places, q_len);
  at::Tensor hidden;
  int64_t layer_begin = scratch_.mark();

  cache.begin_step(places, q_len);
  for (size_t i = 0; i < weights_.layers.size(); ++i) {
    scratch_.rewind(layer_begin);
    const LlamaWeights::Layer& layer = weights_.layers[i];
    const LayerSpec& entry = spec_.layers[i];
    const at::Tensor mixed = product(normalized(x, layer.attention_norm), layer.query_key_value)
                                 .view({places, q_len, heads + 2 * kv_heads, dim});
    const at::Tensor turned = rotated(mixed.narrow(2, 0, heads + kv_heads), turn);
    const at::Tensor keys = turned.narrow(2, heads, kv_heads).transpose(1, 2);
    const at::Tensor values = mixed.narrow(2, heads + kv_heads, kv_heads).transpose(1, 2);
    const KeysValues seen = cache.update(static_cast<int64_t>(i), contiguous(keys, entry.key_dtype),
                                         contiguous(values, entry.value_dtype));
    if (!hidden.defined()) {
      const int64_t blocks = seen.block_table.defined() ? seen.block_table.size(1) : 1;
      hidden = hidden_slots(positions, blocks * seen.keys.size(2));
      layer_begin = scratch_.mark();
    }
    x.add_(product(attention(turned.narrow(2, 0, heads), seen, hidden), layer.attention_output));
    x.add_(feed_forward(x, layer));
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
  all.push_back({"scratch", Role::scratch, -1, scratch_.block()});
  return all;
}

void LlamaDecoder::check_shape(int64_t places, int64_t q_len) const {
  require(places >= 1 && places <= spec_.rows && q_len >= 1 && q_len <= spec_.q_len_max,
          fmt::format("a step of {} places with {} tokens; made for 1 to {} places with 1 to {}",
                      places, q_len, spec_.rows, spec_.q_len_max));
}

at::Tensor LlamaDecoder::token_positions(const StepInputs& inputs, int64_t places, int64_t q_len) {
  at::Tensor first = scratch_.take({places, 1}, at::kLong);
  at::clamp_min_out(first, inputs.positions.narrow(0, 0, places).unsqueeze(1), 0);
  at::Tensor positions = scratch_.take({places, q_len}, at::kLong);
  return at::add_out(positions, first, token_numbers_.narrow(0, 0, q_len));
}

at::Tensor LlamaDecoder::hidden_slots(const at::Tensor& positions, int64_t slots) {
  const int64_t places = positions.size(0), q_len = positions.size(1);
  const at::Tensor of_token = positions.view({places, 1, q_len, 1});
  const at::Tensor numbers = slot_numbers_.narrow(0, 0, slots);
  at::Tensor hidden = scratch_.take({places, 1, q_len, slots}, at::kBool);
  at::gt_out(hidden, numbers, of_token);
  if (spec_.window == 0) return hidden;
  at::Tensor oldest = scratch_.take({places, 1, q_len, 1}, at::kLong);
  at::sub_out(oldest, of_token, at::scalar_tensor(spec_.window, at::kLong));
  at::Tensor too_old = scratch_.take({places, 1, q_len, slots}, at::kBool);
  at::le_out(too_old, numbers, oldest);
  return hidden.logical_or_(too_old);
}

at::Tensor LlamaDecoder::product(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor result = scratch_.take({a.size(0), b.size(1)});
  return at::mm_out(result, a, b);
}

at::Tensor LlamaDecoder::contiguous(const at::Tensor& tensor, at::ScalarType dtype) {
  if (tensor.scalar_type() == dtype && tensor.is_contiguous()) return tensor;
  at::Tensor result = scratch_.take(tensor.sizes(), dtype);
  return result.copy_(tensor);
}

at::Tensor LlamaDecoder::embedded(const StepInputs& inputs, int64_t places, int64_t q_len) {
  const at::Tensor ids =
      contiguous(inputs.tokens.narrow(0, 0, places).narrow(1, 0, q_len), at::kLong);
  at::Tensor x = scratch_.take({places * q_len, llama_.hidden});
  return at::index_select_out(x, weights_.embedding, 0, ids.view({places * q_len}));
}

at::Tensor LlamaDecoder::normalized(const at::Tensor& x, const at::Tensor& gains) {
  at::Tensor result = scratch_.take(x.sizes());
  at::Tensor scale = scratch_.take({x.size(0), 1});
  at::mul_out(result, x, x);
  at::mean_out(scale, result, at::OptionalIntArrayRef{-1}, /*keepdim=*/true);
  scale.add_(llama_.epsilon).rsqrt_();
  at::mul_out(result, x, scale);
  return result.mul_(gains);
}

LlamaDecoder::Rotation LlamaDecoder::rotation(const at::Tensor& positions) {
  const int64_t places = positions.size(0), q_len = positions.size(1), half = llama_.dim / 2;
  const at::Tensor numbers = contiguous(positions, at::kFloat).view({places, q_len, 1, 1});
  at::Tensor angles = scratch_.take({places, q_len, 1, half});
  at::mul_out(angles, numbers, weights_.inverse_frequencies);
  at::Tensor sines = scratch_.take(angles.sizes());
  at::sin_out(sines, angles);
  return {angles.cos_(), sines};
}

/// Element i of the first half of a head and element i of the second are a pair that turns.
at::Tensor LlamaDecoder::rotated(const at::Tensor& heads, const Rotation& by) {
  const int64_t half = heads.size(-1) / 2;
  const at::Tensor first = heads.narrow(-1, 0, half);
  const at::Tensor second = heads.narrow(-1, half, half);
  const at::Tensor result = scratch_.take(heads.sizes());
  at::Tensor turned_first = result.narrow(-1, 0, half);
  at::Tensor turned_second = result.narrow(-1, half, half);
  at::Tensor other = scratch_.take(first.sizes());
  at::mul_out(turned_first, first, by.cosines);
  turned_first.sub_(at::mul_out(other, second, by.sines));
  at::mul_out(turned_second, second, by.cosines);
  turned_second.add_(at::mul_out(other, first, by.sines));
  return result;
}

/// What attention reads of keys or values, as fp32 [places * kv_heads, slots, dim].
at::Tensor LlamaDecoder::entries(const at::Tensor& cache, const at::Tensor& block_table,
                                 int64_t places) {
  const int64_t kv_heads = cache.size(1), slots = cache.size(2), dim = cache.size(3);
  if (!block_table.defined()) {
    return contiguous(cache.narrow(0, 0, places), at::kFloat).view({places * kv_heads, slots, dim});
  }
  const int64_t blocks = block_table.size(1);
  at::Tensor wanted = scratch_.take({places, blocks}, at::kLong);
  at::clamp_min_out(wanted, block_table.narrow(0, 0, places), 0);
  at::Tensor gathered = scratch_.take({places * blocks, kv_heads, slots, dim}, cache.scalar_type());
  at::index_select_out(gathered, cache, 0, wanted.view({places * blocks}));
  const at::Tensor in_order = gathered.view({places, blocks, kv_heads, slots, dim}).transpose(1, 2);
  return contiguous(in_order, at::kFloat).view({places * kv_heads, blocks * slots, dim});
}

/// queries [places, q_len, heads, dim]; returns [tokens, heads * dim]. The query heads that share a
/// kv head are more rows of one product with it.
at::Tensor LlamaDecoder::attention(const at::Tensor& queries, const KeysValues& seen,
                                   const at::Tensor& hidden) {
  const int64_t places = queries.size(0), q_len = queries.size(1);
  const int64_t heads = llama_.heads, kv_heads = llama_.kv_heads, dim = llama_.dim;
  const int64_t of_kv_head = heads / kv_heads * q_len;
  const at::Tensor grouped =
      contiguous(queries.transpose(1, 2), at::kFloat).view({places * kv_heads, of_kv_head, dim});
  const at::Tensor keys = entries(seen.keys, seen.block_table, places);
  const int64_t slots = keys.size(1);
  at::Tensor scores = scratch_.take({places * kv_heads, of_kv_head, slots});
  at::bmm_out(scores, grouped, keys.transpose(1, 2));
  scores.mul_(1.0 / std::sqrt(static_cast<double>(dim)));
  const at::Tensor by_head = scores.view({places, heads, q_len, slots});
  by_head.masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  at::Tensor weights = scratch_.take(by_head.sizes());
  at::_softmax_out(weights, by_head, -1, /*half_to_float=*/false);
  at::Tensor attended = scratch_.take({places * kv_heads, of_kv_head, dim});
  at::bmm_out(attended, weights.view(scores.sizes()),
              entries(seen.values, seen.block_table, places));
  return contiguous(attended.view({places, heads, q_len, dim}).transpose(1, 2), at::kFloat)
      .view({places * q_len, heads * dim});
}

at::Tensor LlamaDecoder::feed_forward(const at::Tensor& x, const LlamaWeights::Layer& layer) {
  const at::Tensor both = product(normalized(x, layer.feed_forward_norm), layer.gate_up);
  at::Tensor gate = scratch_.take({x.size(0), llama_.feed_forward});
  at::silu_out(gate, both.narrow(1, 0, llama_.feed_forward));
  gate.mul_(both.narrow(1, llama_.feed_forward, llama_.feed_forward));
  return product(gate, layer.down);
}

}  // namespace thaw
