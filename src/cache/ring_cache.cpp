// SPDX-License-Identifier: Apache-2.0
#include "cache/ring_cache.h"

#include <ATen/ops/where.h>

namespace thaw {

RingCache::RingCache(const CacheSpec& spec)
    : spec_(rolling_spec(spec)),
      storage_(spec_),
      positions_(without_capacity(spec_)),
      targets_(spec_) {}

void RingCache::begin_step(int64_t places, int64_t q_len) {
  const at::Tensor first = positions_.positions(places).unsqueeze(1);
  const at::Tensor position = first.add(targets_.count_up(q_len));
  // Of more tokens than there are slots only the last are kept.
  const at::Tensor kept = first.ge(0).logical_and(position.ge(first.add(q_len - spec_.slots)));
  targets_.set(positions_.rows(places), at::where(kept, position.remainder(spec_.slots), -1));
}

KeysValues RingCache::update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  storage_.append(layer, TokenTargets::as_places(keys), TokenTargets::as_places(values),
                  targets_.rows(), targets_.slots());
  KeysValues seen = storage_.view(layer);
  seen.ring = true;
  return seen;
}

void RingCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  positions_.reorder(from, lengths);
  storage_.reorder(from);
}

void RingCache::copy_row(int64_t from, int64_t to, int64_t length) {
  positions_.copy_row(from, to, length);
  storage_.copy_row(from, to);
}

std::vector<Buffer> RingCache::buffers() const {
  std::vector<Buffer> buffers = storage_.buffers();
  buffers.push_back(positions_.buffer());
  buffers.push_back(targets_.buffer());
  buffers.push_back(targets_.constant());
  return buffers;
}

std::optional<Place> RingCache::locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                                       Role role) const {
  if (position < 0) return std::nullopt;
  return storage_.locate(layer, row, head, position % spec_.slots, role);
}

}  // namespace thaw
