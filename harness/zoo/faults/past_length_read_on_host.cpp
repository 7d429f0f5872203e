// SPDX-License-Identifier: Apache-2.0
//
// Follows InfiniTensor/InfiniLM#468.
//
// The number of past tokens is an integer on the host, the first row's for all rows, and the step
// narrows the cache to it for the write. A graph that was captured before any prompt writes slot 0
// ever after.

#include <algorithm>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class PastLengthReadOnHost final : public PlanKeepingCache {
 public:
  using PlanKeepingCache::PlanKeepingCache;

  void begin_step(int64_t places, int64_t q_len) override {
    const int64_t past = std::max<int64_t>(plan().positions.front(), 0);
    step_table(*this).select(0, StepTable::positions).fill_(past);
    StaticCache::begin_step(places, q_len);
  }
};

}  // namespace

Registry::MakeSubject past_length_read_on_host() { return made_of<PastLengthReadOnHost>(); }

}  // namespace thaw::zoo
