// SPDX-License-Identifier: Apache-2.0
#include "zoo/replaceable_cache.h"

#include <utility>

namespace thaw::zoo {

void ReplaceableCache::replace() {
  auto next = std::make_unique<StaticCache>(spec());
  const std::vector<Buffer> from = now_->buffers(), to = next->buffers();
  for (size_t i = 0; i < from.size(); ++i) to[i].tensor.copy_(from[i].tensor);
  former_.push_back(std::exchange(now_, std::move(next)));
}

}  // namespace thaw::zoo
