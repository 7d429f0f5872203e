// SPDX-License-Identifier: Apache-2.0
#include "reference/plain_llama.h"

#include <algorithm>
#include <cmath>

namespace thaw {
namespace {

std::vector<float> elements_of(const at::Tensor& tensor) {
  const at::Tensor on_host = tensor.to(at::kCPU).contiguous();
  const float* from = on_host.const_data_ptr<float>();
  return {from, from + on_host.numel()};
}

double half_unit_in_the_last_place(at::ScalarType dtype) {
  if (dtype == at::kHalf) return std::ldexp(1.0, -11);
  return std::ldexp(1.0, dtype == at::kBFloat16 ? -8 : -24);
}

}  // namespace

double llama_tolerance(const LlamaSpec& spec, int64_t length, double magnitude,
                       at::ScalarType kept) {
  const int64_t of_layer = spec.hidden + spec.feed_forward + spec.dim + length;
  const double sums = std::ldexp(static_cast<double>(spec.layers * of_layer), -24);
  return (sums + half_unit_in_the_last_place(kept)) * std::max(magnitude, 1.0);
}

PlainLlama::PlainLlama(const LlamaSpec& spec, const LlamaWeights& weights)
    : spec_(spec),
      embedding_(elements_of(weights.embedding)),
      norm_(elements_of(weights.norm)),
      inverse_frequencies_(elements_of(weights.inverse_frequencies)) {
  const auto matrix = [](const at::Tensor& tensor) {
    return Matrix{elements_of(tensor), static_cast<size_t>(tensor.size(1))};
  };
  for (const LlamaWeights::Layer& layer : weights.layers) {
    layers_.push_back({.attention_norm = elements_of(layer.attention_norm),
                       .feed_forward_norm = elements_of(layer.feed_forward_norm),
                       .query_key_value = matrix(layer.query_key_value),
                       .attention_output = matrix(layer.attention_output),
                       .gate_up = matrix(layer.gate_up),
                       .down = matrix(layer.down)});
  }
}

PlainLlama::Result PlainLlama::run(const Input& input) const {
  const auto hidden = static_cast<size_t>(spec_.hidden);
  const auto dim = static_cast<size_t>(spec_.dim);
  const auto query_size = static_cast<size_t>(spec_.heads) * dim;
  const auto key_size = static_cast<size_t>(spec_.kv_heads) * dim;
  const float* embedded = embedding_.data() + static_cast<size_t>(input.token) * hidden;
  Numbers x(embedded, embedded + hidden);
  Result result;
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    Numbers mixed = times(normalized(x, layer.attention_norm), layer.query_key_value);
    const std::span all(mixed);
    for (size_t head = 0; head < query_size + key_size; head += dim) {
      rotate(all.subspan(head, dim), input.position);
    }
    const auto keys = all.subspan(query_size, key_size);
    const auto values = all.subspan(query_size + key_size, key_size);
    result.keys.emplace_back(keys.begin(), keys.end());
    result.values.emplace_back(values.begin(), values.end());
    const Numbers attended = attention(all.first(query_size), input, input.layers[i]);
    const Numbers from_attention = times(attended, layer.attention_output);
    for (size_t j = 0; j < hidden; ++j) x[j] += from_attention[j];
    const Numbers from_feed_forward = feed_forward(x, layer);
    for (size_t j = 0; j < hidden; ++j) x[j] += from_feed_forward[j];
  }
  const Numbers last = normalized(x, norm_);
  for (int64_t word = 0; word < spec_.vocabulary; ++word) {
    const float* of_word = embedding_.data() + static_cast<size_t>(word) * hidden;
    double sum = 0;
    for (size_t j = 0; j < hidden; ++j) sum += last[j] * of_word[j];
    result.output.push_back(sum);
  }
  return result;
}

PlainLlama::Numbers PlainLlama::times(const Numbers& x, const Matrix& matrix) {
  Numbers sums(matrix.outputs, 0.0);
  const float* row = matrix.elements.data();
  for (const double factor : x) {
    for (double& sum : sums) sum += factor * *row++;
  }
  return sums;
}

PlainLlama::Numbers PlainLlama::normalized(const Numbers& x,
                                           const std::vector<float>& gains) const {
  double squares = 0;
  for (const double number : x) squares += number * number;
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(x.size()) + spec_.epsilon);
  Numbers result(x.size());
  for (size_t i = 0; i < x.size(); ++i) result[i] = x[i] * scale * gains[i];
  return result;
}

void PlainLlama::rotate(std::span<double> head, int64_t position) const {
  const size_t half = head.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    const double angle = static_cast<float>(position) * inverse_frequencies_[i];
    const double first = head[i], second = head[i + half];
    head[i] = first * std::cos(angle) - second * std::sin(angle);
    head[i + half] = second * std::cos(angle) + first * std::sin(angle);
  }
}

PlainLlama::Numbers PlainLlama::attention(std::span<const double> queries, const Input& input,
                                          const LayerEntries& entries) const {
  const auto dim = static_cast<size_t>(spec_.dim);
  const int64_t group = spec_.heads / spec_.kv_heads;
  const int64_t begin =
      input.window == 0 ? 0 : std::max<int64_t>(0, input.position + 1 - input.window);
  Numbers result(queries.size(), 0.0);
  Numbers weights(static_cast<size_t>(input.position + 1 - begin));
  for (int64_t head = 0; head < spec_.heads; ++head) {
    const auto query = queries.subspan(static_cast<size_t>(head) * dim, dim);
    const auto entry = [&](std::span<const float> all, int64_t position) {
      const int64_t slot = position % input.slots;
      return all.data() + static_cast<size_t>(head / group * input.slots + slot) * dim;
    };
    double largest = -INFINITY;
    for (size_t i = 0; i < weights.size(); ++i) {
      const float* key = entry(entries.keys, begin + static_cast<int64_t>(i));
      double score = 0;
      for (size_t j = 0; j < dim; ++j) score += query[j] * key[j];
      weights[i] = score / std::sqrt(static_cast<double>(dim));
      largest = std::max(largest, weights[i]);
    }
    double total = 0;
    for (double& weight : weights) total += weight = std::exp(weight - largest);
    double* to = result.data() + static_cast<size_t>(head) * dim;
    for (size_t i = 0; i < weights.size(); ++i) {
      const float* value = entry(entries.values, begin + static_cast<int64_t>(i));
      for (size_t j = 0; j < dim; ++j) to[j] += weights[i] / total * value[j];
    }
  }
  return result;
}

PlainLlama::Numbers PlainLlama::feed_forward(const Numbers& x, const Layer& layer) const {
  const Numbers both = times(normalized(x, layer.feed_forward_norm), layer.gate_up);
  const auto size = static_cast<size_t>(spec_.feed_forward);
  Numbers gated(size);
  for (size_t i = 0; i < size; ++i) {
    gated[i] = both[i] / (1.0 + std::exp(-both[i])) * both[size + i];
  }
  return times(gated, layer.down);
}

}  // namespace thaw
