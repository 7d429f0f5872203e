// SPDX-License-Identifier: Apache-2.0
//
// Follows NVIDIA/TensorRT-LLM#15546.
//
// What the next step needs is uploaded by asynchronous copies from one pinned buffer, which the
// host rewrites in place for the step after it. An asynchronous copy reads its source when it runs:
// with the device a step behind, it reads what was meant for a later step.

#include <ATen/ops/empty_like.h>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class StagingRewrittenTooEarly final : public StaticCache {
 public:
  explicit StagingRewrittenTooEarly(const CacheSpec& spec)
      : StaticCache(spec), staging_(at::empty_like(step_positions().host(), pinned_integers())) {}

  void prepare(const StepPlan& plan) override {
    step_positions().note(plan);
    staging_.copy_(step_positions().host());
    step_table(*this).copy_(staging_, /*non_blocking=*/true);
  }

 private:
  at::Tensor staging_;
};

}  // namespace

Registry::MakeSubject staging_rewritten_too_early() { return made_of<StagingRewrittenTooEarly>(); }

}  // namespace thaw::zoo
