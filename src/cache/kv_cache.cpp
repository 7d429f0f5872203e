// SPDX-License-Identifier: Apache-2.0
#include "cache/kv_cache.h"

#include <stdexcept>

namespace thaw {

// A caller who asks for what abilities() denies is wrong, not the plan or the row it names.
void KvCache::crop(int64_t row, int64_t length) {
  throw std::logic_error("this cache cannot crop; ask abilities() first");
}

void KvCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  throw std::logic_error("this cache cannot reorder; ask abilities() first");
}

void KvCache::copy_row(int64_t from, int64_t to, int64_t length) {
  throw std::logic_error("this cache cannot copy a row; ask abilities() first");
}

}  // namespace thaw
