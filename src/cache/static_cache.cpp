// SPDX-License-Identifier: Apache-2.0
#include "cache/static_cache.h"

#include <utility>

namespace thaw {

StaticCache::StaticCache(CacheSpec spec)
    : spec_(std::move(spec)), storage_(spec_), positions_(spec_), refused_(spec_) {}

void StaticCache::begin_step(int64_t places, int64_t q_len) {
  places_ = places;
  refused_.add(positions_.rows(places), positions_.positions(places), q_len);
}

KeysValues StaticCache::update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  storage_.append(layer, keys, values, positions_.rows(places_), positions_.positions(places_));
  return storage_.view(layer);
}

void StaticCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  positions_.reorder(from, lengths);
  storage_.reorder(from);
}

void StaticCache::copy_row(int64_t from, int64_t to, int64_t length) {
  positions_.copy_row(from, to, length);
  storage_.copy_row(from, to);
}

std::vector<Buffer> StaticCache::buffers() const {
  std::vector<Buffer> buffers = storage_.buffers();
  buffers.push_back(positions_.buffer());
  buffers.push_back(refused_.buffer());
  return buffers;
}

}  // namespace thaw
