// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
constexpr LlamaSpec llama_spec(int64_t layers, int64_t heads, int64_t kv_heads, int64_t dim) {
  const int64_t hidden = std::min<int64_t>(heads * dim, 256);
  return {.layers = layers,
          .heads = heads,
          .kv_heads = kv_heads,
          .dim = dim,
          .hidden = hidden,
          .feed_forward = 2 * hidden};
}

/// How many fp32 numbers a step may need for its intermediate results, at most: those of each
/// token, its scores and mask, and what attention reads of each row.
constexpr int64_t llama_scratch_numbers(const LlamaSpec& llama, int64_t rows, int64_t slots,
                                        int64_t q_len) {
  const int64_t paged_slots = 2 * slots;  // a paged row may have some more than were asked for
  const int64_t of_token =
      12 * (llama.hidden + llama.feed_forward + (llama.heads + 2 * llama.kv_heads) * llama.dim) +
      (2 * llama.heads + 3) * paged_slots;
  return rows * (q_len * of_token + 4 * llama.kv_heads * paged_slots * llama.dim) + 4096;
}

/// 1 GiB of them: what a case may ask for.
constexpr int64_t llama_scratch_numbers_max = int64_t{1} << 28;

}  // namespace thaw
