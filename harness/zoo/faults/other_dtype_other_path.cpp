// SPDX-License-Identifier: Apache-2.0
//
// Follows vllm-project/vllm#50881, by analogy: there the type was fp8.
//
// Entries of any type but the usual one are inserted by another routine, which takes its offsets
// from the host. Whoever tests graphs with the usual type sees nothing.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class OtherDtypeOtherPath final : public PlanKeepingCache {
 public:
  using PlanKeepingCache::PlanKeepingCache;

  void begin_step(int64_t places, int64_t q_len) override {
    if (spec().layers.front().key_dtype != at::kFloat) {
      write_as_arguments(step_table(*this).select(0, StepTable::positions), plan().positions);
    }
    StaticCache::begin_step(places, q_len);
  }
};

}  // namespace

Registry::MakeSubject other_dtype_other_path() { return made_of<OtherDtypeOtherPath>(); }

}  // namespace thaw::zoo
