// SPDX-License-Identifier: Apache-2.0
//
// Follows InfiniTensor/InfiniLM#540, of which this is the first half: one device.
//
// Where each row writes is a list of offsets that the host makes when the step is recorded. Each
// becomes an argument of a kernel.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class RowOffsetsFromHost final : public PlanKeepingCache {
 public:
  using PlanKeepingCache::PlanKeepingCache;

  void begin_step(int64_t places, int64_t q_len) override {
    write_as_arguments(step_table(*this).select(0, StepTable::positions), plan().positions);
    StaticCache::begin_step(places, q_len);
  }
};

}  // namespace

Registry::MakeSubject row_offsets_from_host() { return made_of<RowOffsetsFromHost>(); }

}  // namespace thaw::zoo
