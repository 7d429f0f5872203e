// SPDX-License-Identifier: Apache-2.0
//
// Follows paiml/aprender#2030.
//
// Which attention kernel runs is decided on the host, by the length: up to a threshold one that
// reads a single chunk of keys, above it another. Graphs are kept by batch size alone, so one that
// was captured below the threshold goes on above it.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class SingleChunkBelowEight final : public PlanKeepingCache {
 public:
  using PlanKeepingCache::PlanKeepingCache;

  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    constexpr int64_t chunk = 8;
    const KeysValues seen = StaticCache::update(layer, keys, values);
    if (longest_after_step() > chunk || spec().slots <= chunk) return seen;
    return {seen.keys.narrow(2, 0, chunk), seen.values.narrow(2, 0, chunk), {}};
  }
};

}  // namespace

Registry::MakeSubject single_chunk_below_eight() { return made_of<SingleChunkBelowEight>(); }

}  // namespace thaw::zoo
