// SPDX-License-Identifier: Apache-2.0
//
// Follows vllm-project/flash-attention#18.
//
// Attention takes the number of keys from the largest length that the host knows, where it should
// take each row's own from the device. The two agree until a graph goes on with the number of its
// capture.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class MaskFromHostMaxLength final : public PlanKeepingCache {
 public:
  using PlanKeepingCache::PlanKeepingCache;

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    const KeysValues seen = StaticCache::update(layer, keys, values);
    const int64_t keys_max = longest_after_step();
    return {seen.keys.narrow(2, 0, keys_max), seen.values.narrow(2, 0, keys_max), {}};
  }
};

}  // namespace

Registry::MakeSubject mask_from_host_max_length() { return made_of<MaskFromHostMaxLength>(); }

}  // namespace thaw::zoo
