// SPDX-License-Identifier: Apache-2.0
#include "cache/shift_cache.h"

#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

namespace thaw {

ShiftCache::ShiftCache(const CacheSpec& spec)
    : spec_(rolling_spec(spec)),
      rows_(spec_),
      positions_(without_capacity(spec_)),
      moves_(at::zeros({2, spec_.rows + 1},
                       at::TensorOptions().dtype(at::kLong).device(spec_.device))) {}

void ShiftCache::begin_step(int64_t places, int64_t q_len) {
  const at::Tensor rows = positions_.rows(places);
  const at::Tensor first = positions_.positions(places);
  const at::Tensor padded = first.lt(0).logical_or(rows.lt(0));
  // What is in slot 0 before the step and after it.
  const at::Tensor before = first.sub(spec_.slots).clamp_min(0);
  const at::Tensor after = first.add(q_len - spec_.slots).clamp_min(0);
  // By row; the last entry is where padded places go.
  const at::Tensor row = at::where(padded, spec_.rows, rows);
  moves_.zero_();
  moves_[0].index_copy_(0, row, after.sub(before));
  moves_[1].index_copy_(0, row, after);
  rows_.shift(moves_[0].narrow(0, 0, spec_.rows));
  rows_.map(moves_[1].narrow(0, 0, spec_.rows));
  const at::Tensor slots = first.sub(after).unsqueeze(1).add(rows_.count_up(q_len));
  rows_.aim(rows, at::where(padded.unsqueeze(1), -1, slots));
}

KeysValues ShiftCache::update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  rows_.append(layer, keys, values);
  return rows_.view(layer);
}

void ShiftCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  positions_.reorder(from, lengths);
  rows_.reorder(from);
}

void ShiftCache::copy_row(int64_t from, int64_t to, int64_t length) {
  positions_.copy_row(from, to, length);
  rows_.copy_row(from, to);
}

std::vector<Buffer> ShiftCache::buffers() const {
  std::vector<Buffer> buffers = rows_.buffers();
  buffers.push_back(positions_.buffer());
  buffers.push_back({"moves", Role::scratch, -1, moves_});
  return buffers;
}

}  // namespace thaw
