// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "decoder/decoder.h"
#include "decoder/llama_weights.h"
#include "decoder/scratch.h"

namespace thaw {

/// The decoder with real arithmetic, of plain LibTorch operators: per layer RMSNorm, rotary
/// positions, grouped-query attention under a mask by length, SwiGLU; then RMSNorm and a projection
/// to the vocabulary. Weights and activations are fp32 whatever dtype the cache keeps.
///
/// Nothing is read on the host and no number of the step depends on a length: attention runs over
/// all slots, and the mask comes from the positions on the device. So a step can be captured once
/// and replayed at any position. Masked slots must hold finite numbers, for 0 * NaN is NaN.
///
/// Place i is row i of the cache, or padding (rule R2): attention reads rows as they lie. A
/// position is its slot; with a window, a token sees the last so many positions.
///
/// Output: [1, places, 1, q_len, vocabulary], what each token says of the next one.
class LlamaDecoder : public Decoder {
 public:
  /// Allocates weights, output and all intermediate results; steps allocate nothing. Throws
  /// std::invalid_argument unless there are layers, all alike, keys and values of one even dim, and
  /// query heads that are a multiple of the kv heads.
  LlamaDecoder(const DecoderSpec& decoder, const CacheSpec& cache);

  /// Throws std::invalid_argument if places or q_len exceed what was allocated.
  void step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) override;
  at::Tensor output(int64_t places, int64_t q_len) const override;
  /// The weights and other constants, "output" and "scratch".
  std::vector<Buffer> buffers() const override;

  const LlamaSpec& llama() const { return llama_; }
  const LlamaWeights& weights() const { return weights_; }

 protected:
  /// Of each token, [places, q_len] int64; what rotation and mask are made from. Padding: 0.
  virtual at::Tensor token_positions(const StepInputs& inputs, int64_t places, int64_t q_len);
  /// True where a slot is hidden from a token: bool [places, 1, q_len, slots].
  virtual at::Tensor hidden_slots(const at::Tensor& positions, int64_t slots);

  Scratch& scratch() { return scratch_; }

 private:
  struct Rotation {
    at::Tensor cosines, sines;  ///< [places, q_len, 1, dim / 2]
  };

  void check_shape(int64_t places, int64_t q_len) const;
  at::Tensor product(const at::Tensor& a, const at::Tensor& b);
  at::Tensor contiguous(const at::Tensor& tensor, at::ScalarType dtype);
  at::Tensor embedded(const StepInputs& inputs, int64_t places, int64_t q_len);
  at::Tensor normalized(const at::Tensor& x, const at::Tensor& gains);
  Rotation rotation(const at::Tensor& positions);
  at::Tensor rotated(const at::Tensor& heads, const Rotation& by);
  at::Tensor entries(const at::Tensor& cache, const at::Tensor& block_table, int64_t places);
  at::Tensor attention(const at::Tensor& queries, const KeysValues& seen, const at::Tensor& hidden);
  at::Tensor feed_forward(const at::Tensor& x, const LlamaWeights::Layer& layer);

  CacheSpec spec_;
  LlamaSpec llama_;
  LlamaWeights weights_;
  at::Tensor slot_numbers_;   ///< [2 * slots] int64: a paged row may have more than were asked for
  at::Tensor token_numbers_;  ///< [q_len_max] int64
  at::Tensor output_;         ///< flat
  Scratch scratch_;
};

}  // namespace thaw
