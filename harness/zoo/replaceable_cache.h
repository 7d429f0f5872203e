// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cache/static_cache.h"

namespace thaw::zoo {

/// A right cache behind a pointer: what faults that exchange buffers as a whole are made of. Those
/// that were replaced live on, with whoever was captured on them.
class ReplaceableCache : public KvCache {
 public:
  explicit ReplaceableCache(const CacheSpec& spec) : now_(std::make_unique<StaticCache>(spec)) {}

  const CacheSpec& spec() const override { return now_->spec(); }
  void prepare(const StepPlan& plan) override { now_->prepare(plan); }
  void begin_step(int64_t places, int64_t q_len) override { now_->begin_step(places, q_len); }
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override {
    return now_->update(layer, keys, values);
  }
  at::Tensor write_positions() const override { return now_->write_positions(); }
  void reset(std::span<const int64_t> rows) override { now_->reset(rows); }
  void crop(int64_t row, int64_t length) override { now_->crop(row, length); }
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override {
    now_->reorder(from, lengths);
  }
  void copy_row(int64_t from, int64_t to, int64_t length) override {
    now_->copy_row(from, to, length);
  }
  std::vector<Buffer> buffers() const override { return now_->buffers(); }
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override {
    return now_->locate(layer, row, head, position, role);
  }

 protected:
  /// Goes on in new buffers with the same contents.
  void replace();

 private:
  std::unique_ptr<StaticCache> now_;
  std::vector<std::unique_ptr<StaticCache>> former_;
};

}  // namespace thaw::zoo
