// SPDX-License-Identifier: Apache-2.0
//
// Follows vllm-project/vllm#8145.
//
// A step writes several tokens a row, and nothing stops it at the last slot of the row. What comes
// after that slot in memory is the next head.

#include "kernels/operators.h"
#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class LookaheadSpills final : public StaticCache {
 public:
  using StaticCache::StaticCache;

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    const KeysValues seen = StaticCache::update(layer, keys, values);
    const at::Tensor table = step_table(*this);
    const int64_t places = keys.size(0);
    for (int64_t head = 0; head + 1 < keys.size(1); ++head) {
      ops::append_(from_head(seen.keys, head), from_head(seen.values, head),
                   keys.narrow(1, head, 1), values.narrow(1, head, 1),
                   table.select(0, StepTable::rows).narrow(0, 0, places),
                   table.select(0, StepTable::positions).narrow(0, 0, places));
    }
    return seen;
  }

 private:
  /// The slots of one head and, as if they were its own, those of all heads after it.
  static at::Tensor from_head(const at::Tensor& entries, int64_t head) {
    const at::Tensor heads = entries.narrow(1, head, entries.size(1) - head);
    const int64_t slots = heads.size(1) * heads.size(2);
    return heads.as_strided({heads.size(0), 1, slots, heads.size(3)},
                            {heads.stride(0), heads.stride(1), heads.stride(2), 1});
  }
};

}  // namespace

Registry::MakeSubject lookahead_spills() { return made_of<LookaheadSpills>(); }

}  // namespace thaw::zoo
