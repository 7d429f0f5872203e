// SPDX-License-Identifier: Apache-2.0
//
// Follows huggingface/transformers#30351.
//
// A new request gets a new cache object with buffers of its own. The graph goes on with those of
// the object that it was captured with, which it keeps alive.

#include "zoo/parts.h"
#include "zoo/replaceable_cache.h"

namespace thaw::zoo {
namespace {

class ResetMakesNewCache final : public ReplaceableCache {
 public:
  using ReplaceableCache::ReplaceableCache;

  void reset(std::span<const int64_t> rows) override {
    replace();
    ReplaceableCache::reset(rows);
  }
};

}  // namespace

Registry::MakeSubject reset_makes_new_cache() { return made_of<ResetMakesNewCache>(); }

}  // namespace thaw::zoo
