// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cache/counter_mode.h"
#include "cache/kv_cache.h"

namespace thaw {

/// Which rows take part in a step, as the host and as the device know it.
struct Participants {
  std::span<const int64_t> rows;
  at::Tensor flags;  ///< [rows + 1] int64: 1 for a row that takes part, else 0
};

/// A position per row, kept in one of the four ways of CounterMode. What a step enqueues is the
/// same whatever row takes part, so that one graph can serve any.
class RowCounter {
 public:
  virtual ~RowCounter() = default;

  /// Inside the step, first: the positions of all rows [rows + 1] int64 on the device, and -1,
  /// which padded places read.
  virtual const at::Tensor& load() = 0;
  /// Inside the step, last: the rows that take part go on by q_len and stop at the capacity.
  virtual void advance(const Participants& who, int64_t q_len) = 0;

  /// Outside a capture, as all that follows.
  virtual void set(int64_t row, int64_t position) = 0;
  /// Row i goes on from where row from[i] was.
  virtual void gather(std::span<const int64_t> from) = 0;
  /// [rows] int64 on the device, without a synchronisation.
  virtual at::Tensor report() = 0;

  /// Every storage that load and advance touch.
  virtual std::vector<Buffer> buffers() const = 0;
  virtual std::vector<uint64_t> host_state() const { return {}; }
};

std::unique_ptr<RowCounter> make_row_counter(CounterMode mode, const CacheSpec& spec);

}  // namespace thaw
