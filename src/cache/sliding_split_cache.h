// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/row_counter.h"
#include "cache/shifting_rows.h"
#include "cache/staged_integers.h"

namespace thaw {

/// The fifth way to count wrongly, and the one that looks right longest: rows that shift, and two
/// counters for one length. The index of a new entry comes from a counter on the device, advanced
/// in place. Whether the row is full, by how much it shifts and what attention is told of it come
/// from a C++ integer: a branch that a capture takes once and for all. A graph that was captured
/// before the window is full is right until it fills; then its replays find no slot.
///
/// Without warm-up and capture both counters agree, and it cannot be told from ShiftCache. Follows
/// a public report of a sliding-window cache, huggingface/transformers#44181.
class SlidingSplitCache : public KvCache {
 public:
  explicit SlidingSplitCache(const CacheSpec& spec);
  ~SlidingSplitCache() override;

  const CacheSpec& spec() const override { return spec_; }
  CacheAbilities abilities() const override { return {.layout = Layout::shift}; }
  void prepare(const StepPlan& plan) override;
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  void end_step() override;
  /// The device's counter.
  at::Tensor write_positions() const override { return counter_->report(); }

  void reset(std::span<const int64_t> rows) override;
  void crop(int64_t row, int64_t length) override;
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;

  /// Those of ShiftingRows, "plan", "moves", "count".
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override {
    return rows_.locate(layer, row, head, position, role);
  }
  /// The host's counters.
  std::vector<uint64_t> host_state() const override;

 private:
  void gather(std::span<const int64_t> from);

  CacheSpec spec_;
  ShiftingRows rows_;
  StagedIntegers plan_;
  std::unique_ptr<RowCounter> counter_;
  std::vector<int64_t> counts_;  ///< the same, as the host knows it
  at::Tensor moves_;             ///< [2, rows + 1] int64: see ShiftCache; written by host scalars
  std::vector<int64_t> participants_;
  int64_t q_len_ = 1;
};

}  // namespace thaw
