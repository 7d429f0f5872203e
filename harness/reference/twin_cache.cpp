// SPDX-License-Identifier: Apache-2.0
#include "reference/twin_cache.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

namespace thaw {

TwinCache::TwinCache(CacheSpec spec) : spec_(std::move(spec)) {
  const auto allocate = [&](int64_t kv_heads, int64_t dim, at::ScalarType dtype) {
    return at::zeros({spec_.rows, kv_heads, spec_.slots, dim},
                     at::TensorOptions().dtype(dtype).device(spec_.device));
  };
  for (const LayerSpec& layer : spec_.layers) {
    layers_.push_back({allocate(layer.kv_heads, layer.key_dim, layer.key_dtype),
                       allocate(layer.kv_heads, layer.value_dim, layer.value_dtype)});
  }
}

std::vector<TwinCache::Written> TwinCache::written() const {
  std::vector<Written> all;
  for (size_t place = 0; place < plan_.rows.size(); ++place) {
    if (plan_.rows[place] < 0) continue;
    const int64_t from = plan_.positions[place];
    const int64_t count = std::min(plan_.q_len, spec_.slots - from);
    if (count > 0) all.push_back({static_cast<int64_t>(place), plan_.rows[place], from, count});
  }
  return all;
}

KeysValues TwinCache::update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  const Layer& to = layers_[static_cast<size_t>(layer)];
  for (const Written& w : written()) {
    const auto put = [&](const at::Tensor& cache, const at::Tensor& entries) {
      cache.select(0, w.row)
          .narrow(1, w.from, w.count)
          .copy_(entries.select(0, w.place).narrow(1, 0, w.count));
    };
    put(to.keys, keys);
    put(to.values, values);
  }
  return {to.keys, to.values, {}};
}

}  // namespace thaw
