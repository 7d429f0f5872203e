// SPDX-License-Identifier: Apache-2.0
#include "caches/trampoline_cache.h"

#include <utility>

namespace thaw {

TrampolineCache::TrampolineCache(CacheSpec spec, Verbs verbs)
    : spec_(std::move(spec)), verbs_(std::move(verbs)) {}

CacheAbilities TrampolineCache::abilities() const {
  CacheAbilities abilities = verbs_.abilities ? verbs_.abilities() : CacheAbilities();
  abilities.crop = abilities.crop && verbs_.crop;
  abilities.reorder = abilities.reorder && verbs_.reorder;
  abilities.copy_row = abilities.copy_row && verbs_.copy_row;
  return abilities;
}

void TrampolineCache::prepare(const StepPlan& plan) { verbs_.prepare(plan); }

void TrampolineCache::begin_step(int64_t places, int64_t q_len) {
  if (verbs_.begin_step) verbs_.begin_step(places, q_len);
}

KeysValues TrampolineCache::update(int64_t layer, const at::Tensor& keys,
                                   const at::Tensor& values) {
  return verbs_.update(layer, keys, values);
}

void TrampolineCache::end_step() {
  if (verbs_.end_step) verbs_.end_step();
}

at::Tensor TrampolineCache::write_positions() const { return verbs_.write_positions(); }

void TrampolineCache::reset(std::span<const int64_t> rows) { verbs_.reset(rows); }

void TrampolineCache::crop(int64_t row, int64_t length) {
  if (!verbs_.crop) return KvCache::crop(row, length);
  verbs_.crop(row, length);
}

void TrampolineCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  if (!verbs_.reorder) return KvCache::reorder(from, lengths);
  verbs_.reorder(from, lengths);
}

void TrampolineCache::copy_row(int64_t from, int64_t to, int64_t length) {
  if (!verbs_.copy_row) return KvCache::copy_row(from, to, length);
  verbs_.copy_row(from, to, length);
}

void TrampolineCache::wake() {
  if (verbs_.wake) verbs_.wake();
}

std::vector<Buffer> TrampolineCache::buffers() const { return verbs_.buffers(); }

std::optional<Place> TrampolineCache::locate(int64_t layer, int64_t row, int64_t head,
                                             int64_t position, Role role) const {
  return verbs_.locate(layer, row, head, position, role);
}

std::vector<uint64_t> TrampolineCache::host_state() const {
  return verbs_.host_state ? verbs_.host_state() : std::vector<uint64_t>();
}

TrampolineCache::Verbs verbs_of(std::shared_ptr<KvCache> cache) {
  TrampolineCache::Verbs verbs;
  verbs.abilities = [cache] { return cache->abilities(); };
  verbs.prepare = [cache](const StepPlan& plan) { cache->prepare(plan); };
  verbs.begin_step = [cache](int64_t places, int64_t q_len) { cache->begin_step(places, q_len); };
  verbs.update = [cache](int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
    return cache->update(layer, keys, values);
  };
  verbs.end_step = [cache] { cache->end_step(); };
  verbs.write_positions = [cache] { return cache->write_positions(); };
  verbs.reset = [cache](std::span<const int64_t> rows) { cache->reset(rows); };
  verbs.crop = [cache](int64_t row, int64_t length) { cache->crop(row, length); };
  verbs.reorder = [cache](std::span<const int64_t> from, std::span<const int64_t> lengths) {
    cache->reorder(from, lengths);
  };
  verbs.copy_row = [cache](int64_t from, int64_t to, int64_t length) {
    cache->copy_row(from, to, length);
  };
  verbs.wake = [cache] { cache->wake(); };
  verbs.buffers = [cache] { return cache->buffers(); };
  verbs.locate = [cache](int64_t layer, int64_t row, int64_t head, int64_t position, Role role) {
    return cache->locate(layer, row, head, position, role);
  };
  verbs.host_state = [cache] { return cache->host_state(); };
  return verbs;
}

std::unique_ptr<TrampolineCache> trampoline_over(std::shared_ptr<KvCache> cache) {
  const CacheSpec spec = cache->spec();
  return std::make_unique<TrampolineCache>(spec, verbs_of(std::move(cache)));
}

}  // namespace thaw
