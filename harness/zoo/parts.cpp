// SPDX-License-Identifier: Apache-2.0
#include "zoo/parts.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace thaw::zoo {

at::Tensor buffer_named(const KvCache& cache, std::string_view name) {
  for (const Buffer& buffer : cache.buffers()) {
    if (buffer.name == name) return buffer.tensor;
  }
  throw std::invalid_argument("the cache has no buffer '" + std::string(name) + "'");
}

KeysValues layer_buffers(const KvCache& cache, int64_t layer) {
  KeysValues found;
  for (const Buffer& buffer : cache.buffers()) {
    if (buffer.layer != layer) continue;
    if (buffer.role == Role::keys) found.keys = buffer.tensor;
    if (buffer.role == Role::values) found.values = buffer.tensor;
  }
  return found;
}

int64_t PlanKeepingCache::longest_after_step() const {
  int64_t longest = 1;
  for (const int64_t position : plan_.positions) {
    if (position >= 0) longest = std::max(longest, position + plan_.q_len);
  }
  return std::min(longest, spec().slots);
}

void write_as_arguments(const at::Tensor& integers, std::span<const int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    integers.select(0, static_cast<int64_t>(i)).fill_(values[i]);
  }
}

at::TensorOptions integers_on_device(const CacheSpec& spec) {
  return at::TensorOptions().dtype(at::kLong).device(spec.device);
}

at::TensorOptions pinned_integers() {
  return at::TensorOptions().dtype(at::kLong).pinned_memory(true);
}

}  // namespace thaw::zoo
