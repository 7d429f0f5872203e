// SPDX-License-Identifier: Apache-2.0
//
// Follows alibaba/rtp-llm#1259.
//
// What a step needs to know about lengths is put into a new tensor before every step, replays
// included. The graph goes on reading the tensor of its capture, which was freed the moment the
// next one took its name, and which the next allocation of that size gets.

#include <ATen/ops/empty_like.h>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class LengthsReallocatedPerReplay final : public StaticCache {
 public:
  using StaticCache::StaticCache;

  void prepare(const StepPlan& plan) override {
    StaticCache::prepare(plan);
    lengths_ = at::empty_like(step_table(*this).select(0, StepTable::positions));
    lengths_.copy_(step_table(*this).select(0, StepTable::positions));
  }

  void begin_step(int64_t places, int64_t q_len) override {
    step_table(*this).select(0, StepTable::positions).copy_(lengths_);
    StaticCache::begin_step(places, q_len);
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = StaticCache::buffers();
    if (lengths_.defined()) buffers.push_back({"lengths", Role::position, -1, lengths_});
    return buffers;
  }

 private:
  at::Tensor lengths_;
};

}  // namespace

Registry::MakeSubject lengths_reallocated_per_replay() {
  return made_of<LengthsReallocatedPerReplay>();
}

}  // namespace thaw::zoo
