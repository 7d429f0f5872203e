// SPDX-License-Identifier: Apache-2.0
//
// Follows huggingface/candle#3352; PaddlePaddle/Paddle#78568 is a sweep over the same class.
//
// Numbers that say how the cache is laid out are uploaded by the step itself, from host memory that
// nobody keeps. Eagerly the copy is over by then. A captured copy reads its source at each replay,
// and by then the memory is somebody else's.
//
// Here the numbers are one offset per place, which the step adds to its positions: all zero.

#include <ATen/ops/zeros.h>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class LayoutUploadDropped final : public StaticCache {
 public:
  explicit LayoutUploadDropped(const CacheSpec& spec)
      : StaticCache(spec), offsets_(at::zeros({spec.rows}, integers_on_device(spec))) {}

  void prepare(const StepPlan& plan) override {
    StaticCache::prepare(plan);
    source_ = at::zeros({spec().rows}, pinned_integers());
  }

  void begin_step(int64_t places, int64_t q_len) override {
    offsets_.copy_(source_, /*non_blocking=*/true);
    source_ = at::Tensor();
    step_table(*this).select(0, StepTable::positions).add_(offsets_);
    StaticCache::begin_step(places, q_len);
  }

  std::vector<Buffer> buffers() const override {
    std::vector<Buffer> buffers = StaticCache::buffers();
    buffers.push_back({"offsets", Role::table, -1, offsets_});
    return buffers;
  }

 private:
  at::Tensor offsets_;
  at::Tensor source_;
};

}  // namespace

Registry::MakeSubject layout_upload_dropped() { return made_of<LayoutUploadDropped>(); }

}  // namespace thaw::zoo
