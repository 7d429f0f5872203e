// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/kv_storage.h"
#include "cache/token_targets.h"

namespace thaw {

/// Keys and values of rows that shift: the oldest entry lies in slot 0, and a row that is full
/// moves all its entries towards it to make room. What attention reads is the same memory as
/// blocks of one entry, with a table that puts each position into the place it has in a ring; so a
/// decoder needs to know one rolling layout only. Everything a step does is arithmetic on the
/// device with the tensors it is given.
class ShiftingRows {
 public:
  /// `spec` as of rolling_spec.
  explicit ShiftingRows(const CacheSpec& spec);

  // Inside a step.

  /// Every row moves its entries `by_row` [rows] int64 slots down; 0 leaves it.
  void shift(const at::Tensor& by_row);
  /// The next append goes to `slots` [places, q_len] of `rows` [places]; what lies outside
  /// [0, slots) is skipped.
  void aim(const at::Tensor& rows, const at::Tensor& slots);
  /// The position in slot 0 of each row, `oldest` [rows] int64, is what attention is told.
  void map(const at::Tensor& oldest);
  void append(int64_t layer, const at::Tensor& keys, const at::Tensor& values);
  KeysValues view(int64_t layer) const;
  /// [q_len] int64: 0, 1, ...
  at::Tensor count_up(int64_t q_len) const { return targets_.count_up(q_len); }

  // Outside a capture.

  void reorder(std::span<const int64_t> from);
  void copy_row(int64_t from, int64_t to);

  /// Keys and values layer by layer, "tokens", "numbers", "table".
  std::vector<Buffer> buffers() const;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t slot,
                              Role role) const;

 private:
  int64_t rows_, slots_;
  KvStorage storage_;  ///< of rows * slots blocks
  TokenTargets targets_;
  at::Tensor slot_zero_;  ///< [rows, 1] int64: the block of each row's slot 0
  at::Tensor table_;      ///< [rows, slots] int64
};

}  // namespace thaw
