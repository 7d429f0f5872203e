// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thaw {

/// The sizes of a llama decoder, all of them.
struct LlamaSpec {
  int64_t layers = 1;
  int64_t heads = 2;     ///< query heads
  int64_t kv_heads = 1;  ///< each serves heads / kv_heads query heads
  int64_t dim = 16;      ///< of a head, even
  int64_t hidden = 32;
  int64_t feed_forward = 64;
  int64_t vocabulary = 512;
  float rope_base = 10000;
  float epsilon = 1e-5F;  ///< of RMSNorm
};

/// The sizes that follow from the shape of attention: hidden is heads * dim as in Llama, at most
/// 256, so that the largest cases stay small, and feed_forward is twice that.
LlamaSpec llama_spec(int64_t layers, int64_t heads, int64_t kv_heads, int64_t dim);

}  // namespace thaw
