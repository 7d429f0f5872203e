// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/kv_storage.h"
#include "cache/refused_count.h"
#include "cache/row_counter.h"
#include "cache/staged_integers.h"

namespace thaw {

/// The cache that fails under capture: the same buffers as StaticCache, but it keeps a position per
/// row of its own and ignores the caller's. Which failure follows from how it keeps it:
///
/// | mode            | the position of a row is                  | captured and replayed it  |
/// |-----------------|-------------------------------------------|---------------------------|
/// | host_int        | a C++ integer                             | freezes                   |
/// | cpu_scalar      | a 0-dim CPU tensor in a device expression | freezes                   |
/// | device_rebind   | a device tensor, `count = count + n`      | freezes, on freed memory  |
/// | device_in_place | a device tensor, `count.add_(n)`          | drifts by the warm-ups    |
///
/// A fifth mode, sliding_split, is a cache of its own: see sliding_split_cache.h.
///
/// Nothing else is wrong with it. It takes padding from the places' rows, advances only rows that
/// take part, stops at `slots`, counts what it refuses, and follows reset, crop, reorder and
/// copy_row; without warm-up and capture it cannot be told from StaticCache.
class CounterCache : public KvCache {
 public:
  CounterCache(CacheSpec spec, CounterMode mode);
  ~CounterCache() override;

  const CacheSpec& spec() const override { return spec_; }
  void prepare(const StepPlan& plan) override;
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  void end_step() override;
  /// Its own counters.
  at::Tensor write_positions() const override;

  void reset(std::span<const int64_t> rows) override;
  void crop(int64_t row, int64_t length) override;
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;

  /// Keys and values layer by layer, "plan", "positions", "refused", then what the counter has:
  /// "count" is, on the device, the tensor that the next step starts from.
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override {
    return storage_.locate(layer, row, head, position, role);
  }
  std::vector<uint64_t> host_state() const override;

 private:
  CacheSpec spec_;
  KvStorage storage_;
  StagedIntegers plan_;
  at::Tensor positions_;  ///< [rows] int64: per place, computed inside the step
  RefusedCount refused_;
  std::unique_ptr<RowCounter> counter_;
  std::vector<int64_t> participants_;

  // Of the step under way.
  at::Tensor step_rows_;
  at::Tensor step_positions_;
  int64_t q_len_ = 1;
};

}  // namespace thaw
