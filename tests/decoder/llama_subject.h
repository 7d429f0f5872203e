// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cache/static_cache.h"
#include "decoder/llama_decoder.h"

namespace thaw {

/// A llama decoder over a StaticCache on some device, with its inputs.
class LlamaSubject {
 public:
  explicit LlamaSubject(const CacheSpec& spec, int64_t heads = 2, int64_t seed = 1);

  /// Refills all inputs, as a caller does before every step, capture and replay.
  /// `added` to every token makes others of them.
  void refill(const StepPlan& plan, int64_t added = 0);
  /// Only enqueues, so that it can be captured.
  void enqueue(const StepPlan& plan) { decoder_.step(cache_, inputs_, plan.places(), plan.q_len); }
  void step(const StepPlan& plan, int64_t added = 0);

  /// Copies on the host: keys and values of every layer, then the output of a step.
  std::vector<at::Tensor> contents(const StepPlan& plan) const;
  const LlamaDecoder& decoder() const { return decoder_; }

 private:
  StaticCache cache_;
  LlamaDecoder decoder_;
  StepInputs inputs_;
};

/// Bit for bit, and of the same number of tensors.
bool same_bits(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b);

}  // namespace thaw
