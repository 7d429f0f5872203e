// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/kv_storage.h"
#include "cache/step_positions.h"
#include "cache/token_targets.h"

namespace thaw {

/// StaticCache with rows that are rings: a position lies in slot position mod slots, and a row that
/// is full overwrites its oldest entries. The write position comes from the caller; the wrap is
/// arithmetic on the device, so a graph that was captured before the ring was full serves a full
/// one. Nothing is refused. Its slots are spec.window, or spec.slots if that is 0.
class RingCache : public KvCache {
 public:
  explicit RingCache(const CacheSpec& spec);

  const CacheSpec& spec() const override { return spec_; }
  CacheAbilities abilities() const override { return {.layout = Layout::ring}; }
  void prepare(const StepPlan& plan) override { positions_.refill(plan); }
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  at::Tensor write_positions() const override { return positions_.write_positions(); }

  void reset(std::span<const int64_t> rows) override { positions_.reset(rows); }
  /// Only a row that has evicted nothing can be cropped; what was evicted does not come back.
  void crop(int64_t row, int64_t length) override { positions_.crop(row, length); }
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;

  /// Keys and values layer by layer, "positions", "tokens".
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override;

 private:
  CacheSpec spec_;
  KvStorage storage_;
  StepPositions positions_;
  TokenTargets targets_;
};

}  // namespace thaw
