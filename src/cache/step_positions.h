// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "cache/kv_cache.h"
#include "cache/staged_integers.h"
#include "cache/step_plan.h"

namespace thaw {

/// Where each place of the next step writes, as the caller says, in one device buffer that never
/// moves; and what KvCache::write_positions reports, which follows from the same calls. For caches
/// that keep no position of their own.
class StepPositions {
 public:
  explicit StepPositions(const CacheSpec& spec);

  /// KvCache::prepare. Places that the plan does not have are padding.
  void refill(const StepPlan& plan);
  /// The same on the host alone, for a cache that has its own way to bring host() to the device.
  void note(const StepPlan& plan);
  const at::Tensor& host() const { return table_.host(); }
  void reset(std::span<const int64_t> rows);
  void crop(int64_t row, int64_t length);
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths);
  void copy_row(int64_t from, int64_t to, int64_t length);

  /// [places] int64 each, what the operators take.
  const at::Tensor& rows(int64_t places) const { return table_.device(row_line, places); }
  const at::Tensor& positions(int64_t places) const { return table_.device(position_line, places); }
  /// [rows] int64.
  const at::Tensor& write_positions() const { return table_.device(report_line, spec_.rows); }
  /// The storage of all three: [3, rows] int64.
  Buffer buffer() const { return {"positions", Role::position, -1, table_.device()}; }

 private:
  static constexpr int64_t row_line = 0;
  static constexpr int64_t position_line = 1;
  static constexpr int64_t report_line = 2;

  CacheSpec spec_;
  StagedIntegers table_;
};

}  // namespace thaw
