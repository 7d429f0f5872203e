// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/shifting_rows.h"
#include "cache/step_positions.h"

namespace thaw {

/// StaticCache with rows that shift: a row that is full moves its entries down and appends at the
/// end, as sliding-window caches do. The write position comes from the caller, and by how much a
/// row moves follows from it on the device, so a graph that was captured before the window was full
/// serves a full one. Nothing is refused. Its slots are spec.window, or spec.slots if that is 0.
class ShiftCache : public KvCache {
 public:
  explicit ShiftCache(const CacheSpec& spec);

  const CacheSpec& spec() const override { return spec_; }
  CacheAbilities abilities() const override { return {.layout = Layout::shift}; }
  void prepare(const StepPlan& plan) override { positions_.refill(plan); }
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  at::Tensor write_positions() const override { return positions_.write_positions(); }

  void reset(std::span<const int64_t> rows) override { positions_.reset(rows); }
  /// Only a row that has evicted nothing can be cropped; what was evicted does not come back.
  void crop(int64_t row, int64_t length) override { positions_.crop(row, length); }
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;

  /// Those of ShiftingRows, "positions", "moves".
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override {
    return rows_.locate(layer, row, head, position, role);
  }

 private:
  CacheSpec spec_;
  ShiftingRows rows_;
  StepPositions positions_;
  at::Tensor moves_;  ///< [2, rows + 1] int64: per row its shift, and the position in its slot 0
};

}  // namespace thaw
