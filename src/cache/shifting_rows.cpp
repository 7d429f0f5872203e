// SPDX-License-Identifier: Apache-2.0
#include "cache/shifting_rows.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

namespace thaw {
namespace {

/// One block for each slot.
CacheSpec blocks_of(CacheSpec spec) {
  spec.rows *= spec.slots;
  spec.slots = 1;
  return spec;
}

}  // namespace

ShiftingRows::ShiftingRows(const CacheSpec& spec)
    : rows_(spec.rows), slots_(spec.slots), storage_(blocks_of(spec)), targets_(spec) {
  const auto integers = at::TensorOptions().dtype(at::kLong).device(spec.device);
  slot_zero_ = at::arange(0, rows_ * slots_, slots_, integers).unsqueeze(1);
  table_ = at::zeros({rows_, slots_}, integers);
}

void ShiftingRows::shift(const at::Tensor& by_row) {
  // Past the last entry there is nothing to move; new ones go there.
  const at::Tensor from = targets_.count_up(slots_).add(by_row.unsqueeze(1)).clamp_max(slots_ - 1);
  storage_.gather(slot_zero_.add(from).view({-1}));
}

void ShiftingRows::aim(const at::Tensor& rows, const at::Tensor& slots) {
  const at::Tensor inside =
      slots.ge(0).logical_and(slots.lt(slots_)).logical_and(rows.ge(0).unsqueeze(1));
  const at::Tensor block = rows.mul(slots_).unsqueeze(1).add(slots);
  targets_.set(rows, at::where(inside, block, -1));
}

void ShiftingRows::map(const at::Tensor& oldest) {
  const at::Tensor slot = targets_.count_up(slots_).sub(oldest.unsqueeze(1)).remainder(slots_);
  table_.copy_(slot_zero_.add(slot));
}

void ShiftingRows::append(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  // A block is a row with one slot to the storage: -1 says which tokens are skipped.
  storage_.append(layer, TokenTargets::as_places(keys), TokenTargets::as_places(values),
                  targets_.slots(), targets_.slots().clamp_max(0));
}

KeysValues ShiftingRows::view(int64_t layer) const {
  KeysValues seen = storage_.view(layer);
  seen.block_table = table_;
  seen.ring = true;
  return seen;
}

void ShiftingRows::reorder(std::span<const int64_t> from) {
  std::vector<int64_t> blocks;
  for (const int64_t row : from) {
    for (int64_t slot = 0; slot < slots_; ++slot) blocks.push_back(row * slots_ + slot);
  }
  storage_.reorder(blocks);
}

void ShiftingRows::copy_row(int64_t from, int64_t to) {
  for (int64_t slot = 0; slot < slots_; ++slot) {
    storage_.copy_row(from * slots_ + slot, to * slots_ + slot);
  }
}

std::vector<Buffer> ShiftingRows::buffers() const {
  std::vector<Buffer> buffers = storage_.buffers();
  buffers.push_back(targets_.buffer());
  buffers.push_back(targets_.constant());
  buffers.push_back({"slot_zero", Role::constant, -1, slot_zero_});
  buffers.push_back({"table", Role::table, -1, table_});
  return buffers;
}

std::optional<Place> ShiftingRows::locate(int64_t layer, int64_t row, int64_t head, int64_t slot,
                                          Role role) const {
  if (slot < 0 || slot >= slots_) return std::nullopt;
  return storage_.locate(layer, row * slots_ + slot, head, 0, role);
}

}  // namespace thaw
