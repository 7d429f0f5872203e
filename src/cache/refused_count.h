// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cache/kv_cache.h"

namespace thaw {

/// How many entries were refused since construction, on the device: [] int64 that never moves.
class RefusedCount {
 public:
  explicit RefusedCount(const CacheSpec& spec);

  /// Inside a step, once: what of q_len tokens at `positions` lies outside [0, slots).
  void add(const at::Tensor& rows, const at::Tensor& positions, int64_t q_len) const;

  Buffer buffer() const { return {"refused", Role::refused, -1, count_}; }

 private:
  int64_t slots_;
  Kernels kernels_;
  at::Tensor count_;
};

}  // namespace thaw
