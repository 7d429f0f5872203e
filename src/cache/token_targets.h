// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cache/kv_cache.h"

namespace thaw {

/// The specification of a cache whose rows keep their last entries: as many slots as its window, or
/// a window as large as its slots.
CacheSpec rolling_spec(CacheSpec spec);
/// The same without a bound on lengths.
CacheSpec without_capacity(CacheSpec spec);

/// Where each token of a step goes, for caches in which the tokens of a place do not lie side by
/// side: every token is a place of its own to ops::append_. All arithmetic is on the device.
class TokenTargets {
 public:
  explicit TokenTargets(const CacheSpec& spec);

  /// Inside the step, once: token i of place p goes to row rows[p], slot slots[p, i] of
  /// [places, q_len]; -1 is skipped. Both int64.
  void set(const at::Tensor& rows, const at::Tensor& slots);

  /// [places * q_len] int64 each.
  const at::Tensor& rows() const { return rows_; }
  const at::Tensor& slots() const { return slots_; }
  /// [places, kv_heads, q_len, dim] as [places * q_len, kv_heads, 1, dim].
  static at::Tensor as_places(const at::Tensor& entries);

  /// [q_len] int64: 0, 1, ...
  at::Tensor count_up(int64_t q_len) const { return numbers_.narrow(0, 0, q_len); }

  Buffer buffer() const { return {"tokens", Role::scratch, -1, storage_}; }
  Buffer constant() const { return {"numbers", Role::constant, -1, numbers_}; }

 private:
  at::Tensor storage_;  ///< [2, rows * q_len_max] int64
  at::Tensor numbers_;
  at::Tensor rows_, slots_;
};

}  // namespace thaw
