// SPDX-License-Identifier: Apache-2.0
#include "decoder/tag_decoder.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <stdexcept>

#include "decoder/tag.h"
#include "kernels/operators.h"
#include "kernels/torch_operators.h"

namespace thaw {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::invalid_argument("tag decoder: " + what);
}

bool alike(const LayerSpec& a, const LayerSpec& b) {
  return a.kv_heads == b.kv_heads && a.key_dim == b.key_dim && a.value_dim == b.value_dim &&
         a.key_dtype == b.key_dtype && a.value_dtype == b.value_dtype;
}

void check(const DecoderSpec& decoder, const CacheSpec& cache) {
  require(!cache.layers.empty(), "the cache has no layers");
  const LayerSpec& layer = cache.layers.front();
  for (const LayerSpec& other : cache.layers) require(alike(layer, other), "layers differ");
  require(layer.key_dim == layer.value_dim,
          fmt::format("keys of {} elements and values of {} cannot be summed", layer.key_dim,
                      layer.value_dim));
  require(layer.key_dim >= Tag::digit_count,
          fmt::format("a tag has {} elements, an entry {}", Tag::digit_count, layer.key_dim));
  require(cache.rows <= 16 && cache.layers.size() <= 16 && layer.kv_heads <= 16,
          fmt::format("a tag has one digit each for {} rows, {} layers and {} kv heads; at most 16",
                      cache.rows, cache.layers.size(), layer.kv_heads));
  require(
      layer.kv_heads > 0 && decoder.heads > 0 && decoder.heads % layer.kv_heads == 0,
      fmt::format("{} query heads are no multiple of {} kv heads", decoder.heads, layer.kv_heads));
}

/// The first `places` of an input.
at::Tensor first(const at::Tensor& input, int64_t places) {
  return input.size(0) == places ? input : input.narrow(0, 0, places);
}

}  // namespace

TagDecoder::TagDecoder(const DecoderSpec& decoder, const CacheSpec& cache)
    : spec_(cache), heads_(decoder.heads) {
  check(decoder, cache);
  const LayerSpec& layer = spec_.layers.front();
  const int64_t tokens = spec_.rows * spec_.q_len_max;
  const auto options = at::TensorOptions(spec_.device);
  new_keys_ = at::zeros({tokens * layer.kv_heads * layer.key_dim}, options.dtype(layer.key_dtype));
  new_values_ =
      at::zeros({tokens * layer.kv_heads * layer.value_dim}, options.dtype(layer.value_dtype));
  const auto layers = static_cast<int64_t>(spec_.layers.size());
  output_ = at::zeros({layers * tokens * heads_ * layer.key_dim}, options.dtype(at::kFloat));
}

void TagDecoder::step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) {
  const Views& view = views(places, q_len);
  const at::Tensor rows = first(inputs.rows, places);
  const at::Tensor positions = first(inputs.positions, places);

  cache.begin_step(places, q_len);
  for (size_t i = 0; i < spec_.layers.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    make_entries(view.new_keys, view.new_values, rows, positions, inputs.generation, layer);
    const KeysValues seen = cache.update(layer, view.new_keys, view.new_values);
    attend(view.layer_outputs[i], seen, rows, positions);
  }
  cache.end_step();
}

void TagDecoder::make_entries(const at::Tensor& keys, const at::Tensor& values,
                              const at::Tensor& rows, const at::Tensor& positions,
                              const at::Tensor& generation, int64_t layer) {
  const auto tag = spec_.kernels == Kernels::registered ? ops::tag_ : torch_ops::tag_;
  tag(keys, values, rows, positions, generation, layer);
}

void TagDecoder::attend(const at::Tensor& output, const KeysValues& seen, const at::Tensor& rows,
                        const at::Tensor& positions) {
  const auto visible_sum =
      spec_.kernels == Kernels::registered ? ops::visible_sum_ : torch_ops::visible_sum_;
  visible_sum(output, seen.keys, seen.values, seen.block_table, rows, positions, spec_.window,
              seen.ring);
}

at::Tensor TagDecoder::output(int64_t places, int64_t q_len) const {
  return views(places, q_len).output;
}

std::vector<Buffer> TagDecoder::buffers() const {
  return {{"new_keys", Role::scratch, -1, new_keys_},
          {"new_values", Role::scratch, -1, new_values_},
          {"output", Role::scratch, -1, output_}};
}

const TagDecoder::Views& TagDecoder::views(int64_t places, int64_t q_len) const {
  for (const Views& known : views_) {
    if (known.places == places && known.q_len == q_len) return known;
  }
  require(places >= 1 && places <= spec_.rows && q_len >= 1 && q_len <= spec_.q_len_max,
          fmt::format("a step of {} places with {} tokens; made for 1 to {} places with 1 to {}",
                      places, q_len, spec_.rows, spec_.q_len_max));
  const LayerSpec& layer = spec_.layers.front();
  const auto view = [](const at::Tensor& flat, at::IntArrayRef sizes) {
    return flat.narrow(0, 0, c10::multiply_integers(sizes)).view(sizes);
  };
  const auto layers = static_cast<int64_t>(spec_.layers.size());
  Views made{places,
             q_len,
             view(new_keys_, {places, layer.kv_heads, q_len, layer.key_dim}),
             view(new_values_, {places, layer.kv_heads, q_len, layer.value_dim}),
             view(output_, {layers, places, heads_, q_len, layer.key_dim}),
             {}};
  for (int64_t i = 0; i < layers; ++i) made.layer_outputs.push_back(made.output.select(0, i));
  return views_.emplace_back(std::move(made));
}

}  // namespace thaw
