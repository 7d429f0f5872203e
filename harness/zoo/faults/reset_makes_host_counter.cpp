// SPDX-License-Identifier: Apache-2.0
//
// Follows Saganaki22/ComfyUI-Breeze-TTS-2#2, of which a part was read.
//
// A library upgrade changed how the counter of a static cache is kept. What reset puts in its
// place is a tensor in pageable host memory, which the step then uploads. Eagerly that works; a
// capture refuses it.

#include <ATen/ops/full.h>

#include <vector>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class ResetMakesHostCounter final : public StaticCache {
 public:
  explicit ResetMakesHostCounter(const CacheSpec& spec)
      : StaticCache(spec), counter_(at::full({spec.rows}, -1, integers_on_device(spec))) {}

  void prepare(const StepPlan& plan) override {
    StaticCache::prepare(plan);
    counter_.copy_(step_table(*this).select(0, StepTable::positions));
  }

  void begin_step(int64_t places, int64_t q_len) override {
    step_table(*this).select(0, StepTable::positions).copy_(counter_);
    StaticCache::begin_step(places, q_len);
  }

  void reset(std::span<const int64_t> rows) override {
    counter_ = at::full({spec().rows}, -1, at::kLong);
    StaticCache::reset(rows);
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = StaticCache::buffers();
    if (!counter_.is_cpu()) buffers.push_back({"counter", Role::position, -1, counter_});
    return buffers;
  }

 private:
  at::Tensor counter_;
};

}  // namespace

Registry::MakeSubject reset_makes_host_counter() { return made_of<ResetMakesHostCounter>(); }

}  // namespace thaw::zoo
