// SPDX-License-Identifier: Apache-2.0
//
// Follows NVIDIA/TensorRT-LLM#7373.
//
// The forward pass itself adds the new tokens to the lengths on the device, in place. Warm-up
// passes over the same inputs add them again, and nobody takes that back.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class LengthsAdvancedInStep final : public StaticCache {
 public:
  using StaticCache::StaticCache;

  void begin_step(int64_t places, int64_t q_len) override {
    q_len_ = q_len;
    StaticCache::begin_step(places, q_len);
  }

  void end_step() override {
    const at::Tensor takes_part = step_table(*this).select(0, StepTable::rows).ge(0);
    step_table(*this).select(0, StepTable::write_positions).add_(takes_part, q_len_);
  }

 private:
  int64_t q_len_ = 0;
};

}  // namespace

Registry::MakeSubject lengths_advanced_in_step() { return made_of<LengthsAdvancedInStep>(); }

}  // namespace thaw::zoo
