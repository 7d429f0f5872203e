// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoder/llama_weights.h"

namespace thaw {

/// The llama decoder's arithmetic once more, in loops over double: no LibTorch operator, no mask,
/// no batch. Slow, and independent of everything that the decoder is made of.
///
/// Attention reads the entries that a cache must hold, as they are kept, so that neither the dtype
/// of the cache nor earlier steps add to the difference from the decoder. Angles of the rotation
/// are rounded to fp32 as there: at position 4095 that alone moves them by 1e-4.
class PlainLlama {
 public:
  /// Keys and values of one row of one layer, [kv_heads, slots, dim] each.
  struct LayerEntries {
    std::span<const float> keys, values;
  };
  struct Input {
    int64_t token = 0;
    int64_t position = 0;
    int64_t window = 0;  ///< 0: none
    int64_t slots = 0;
    std::vector<LayerEntries> layers;  ///< entries up to `position` are there
  };
  /// What one token makes: per layer its key and its value [kv_heads, dim], and its output.
  struct Result {
    std::vector<std::vector<double>> keys, values;
    std::vector<double> output;
  };

  PlainLlama(const LlamaSpec& spec, const LlamaWeights& weights);

  Result run(const Input& input) const;

 private:
  using Numbers = std::vector<double>;
  struct Matrix {
    std::vector<float> elements;  ///< [inputs, outputs]
    size_t outputs = 0;
  };
  struct Layer {
    std::vector<float> attention_norm, feed_forward_norm;
    Matrix query_key_value, attention_output, gate_up, down;
  };

  static Numbers times(const Numbers& x, const Matrix& matrix);
  Numbers normalized(const Numbers& x, const std::vector<float>& gains) const;
  void rotate(std::span<double> head, int64_t position) const;
  Numbers attention(std::span<const double> queries, const Input& input,
                    const LayerEntries& entries) const;
  Numbers feed_forward(const Numbers& x, const Layer& layer) const;

  LlamaSpec spec_;
  std::vector<float> embedding_, norm_, inverse_frequencies_;
  std::vector<Layer> layers_;
};

/// How far a value of the decoder may be from that of PlainLlama: the rounding of fp32 sums of as
/// many terms as the longest way to it has, `length` entries in each layer's attention included,
/// times the largest number of the entry or output. `kept` is the dtype in which the value is kept.
double llama_tolerance(const LlamaSpec& spec, int64_t length, double magnitude,
                       at::ScalarType kept);

}  // namespace thaw
