// SPDX-License-Identifier: Apache-2.0
#include "zoo/parts.h"

#include <stdexcept>
#include <string>

namespace thaw::zoo {

at::Tensor buffer_named(const KvCache& cache, std::string_view name) {
  for (const Buffer& buffer : cache.buffers()) {
    if (buffer.name == name) return buffer.tensor;
  }
  throw std::invalid_argument("the cache has no buffer '" + std::string(name) + "'");
}

at::TensorOptions integers_on_device(const CacheSpec& spec) {
  return at::TensorOptions().dtype(at::kLong).device(spec.device);
}

at::TensorOptions pinned_integers() {
  return at::TensorOptions().dtype(at::kLong).pinned_memory(true);
}

}  // namespace thaw::zoo
