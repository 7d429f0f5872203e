// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cache/kv_cache.h"
#include "decoder/llama_spec.h"

namespace thaw {

/// Seeded weights, fp32. Matrices are [inputs, outputs]: a row of activations times a matrix.
/// Drawn on the host, so that they are the same on every device and with every LibTorch.
struct LlamaWeights {
  struct Layer {
    at::Tensor attention_norm;     ///< [hidden]
    at::Tensor query_key_value;    ///< [hidden, (heads + 2 * kv_heads) * dim], in this order
    at::Tensor attention_output;   ///< [heads * dim, hidden]
    at::Tensor feed_forward_norm;  ///< [hidden]
    at::Tensor gate_up;            ///< [hidden, 2 * feed_forward]
    at::Tensor down;               ///< [feed_forward, hidden]
  };

  LlamaWeights(const LlamaSpec& spec, int64_t seed, c10::Device device);

  /// All of them, as constants.
  std::vector<Buffer> buffers() const;

  at::Tensor embedding;            ///< [vocabulary, hidden]; transposed, the output projection too
  at::Tensor norm;                 ///< [hidden]
  at::Tensor inverse_frequencies;  ///< [dim / 2]: of the rotation, radians a position
  std::vector<Layer> layers;
};

}  // namespace thaw
