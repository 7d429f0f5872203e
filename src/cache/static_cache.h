// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/kv_storage.h"
#include "cache/refused_count.h"
#include "cache/step_positions.h"

namespace thaw {

/// The cache that capture cannot freeze. Its rules:
///
/// 1. The write position is the index that is written next. It comes from the caller with each
///    step, lies in a device buffer that never moves, and is never a kernel argument.
/// 2. update takes one or more tokens per place, each place at its own row and position; what it
///    enqueues depends on device memory only. A place with position -1 is padding: skipped whole,
///    not counted. Any other position outside [0, slots) is skipped and counted, once a step, in a
///    device-side counter that the host may read later.
/// 3. Lengths move only through the caller's positions and through reset, crop, reorder, copy_row.
/// 4. What changes rows works in place; gathers go through scratch allocated at construction.
/// 5. Heads, dimensions and dtypes are given per layer, keys and values apart.
/// 6. Allocation happens at construction. Constructing one, or calling anything but the step's
///    verbs, while a capture is under way throws: each begins with a copy that the device refuses.
/// 7. reset clears lengths too.
class StaticCache : public KvCache {
 public:
  explicit StaticCache(CacheSpec spec);

  const CacheSpec& spec() const override { return spec_; }
  void prepare(const StepPlan& plan) override { positions_.refill(plan); }
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  at::Tensor write_positions() const override { return positions_.write_positions(); }

  void reset(std::span<const int64_t> rows) override { positions_.reset(rows); }
  void crop(int64_t row, int64_t length) override { positions_.crop(row, length); }
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;

  /// Keys and values layer by layer, "positions", "refused".
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override {
    return storage_.locate(layer, row, head, position, role);
  }

 protected:
  StepPositions& step_positions() { return positions_; }

 private:
  CacheSpec spec_;
  KvStorage storage_;
  StepPositions positions_;
  RefusedCount refused_;
  int64_t places_ = 1;  ///< of the step under way
};

}  // namespace thaw
