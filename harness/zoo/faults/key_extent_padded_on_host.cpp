// SPDX-License-Identifier: Apache-2.0
//
// Follows ikawrakow/ik_llama.cpp#2096.
//
// Attention covers a length that the host rounds up to a multiple of some block, and whether a
// graph may be used again is decided by addresses and by the shapes of results. Neither changes
// when the length crosses into the next block.

#include <algorithm>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class KeyExtentPaddedOnHost final : public PlanKeepingCache {
 public:
  using PlanKeepingCache::PlanKeepingCache;

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    constexpr int64_t block = 4;
    const KeysValues seen = StaticCache::update(layer, keys, values);
    const int64_t padded = (longest_after_step() + block - 1) / block * block;
    const int64_t extent = std::min(padded, spec().slots);
    return {seen.keys.narrow(2, 0, extent), seen.values.narrow(2, 0, extent), {}};
  }
};

}  // namespace

Registry::MakeSubject key_extent_padded_on_host() { return made_of<KeyExtentPaddedOnHost>(); }

}  // namespace thaw::zoo
