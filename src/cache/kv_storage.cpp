// SPDX-License-Identifier: Apache-2.0
#include "cache/kv_storage.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <array>

#include "cache/checks.h"
#include "kernels/operators.h"
#include "kernels/torch_operators.h"

namespace thaw {

KvStorage::KvStorage(const CacheSpec& spec)
    : spec_(spec), order_((check_spec(spec), 1), spec.rows, spec.device) {
  size_t scratch_bytes = 0;
  for (const LayerSpec& layer : spec_.layers) {
    layers_.push_back({allocate(layer.kv_heads, layer.key_dim, layer.key_dtype),
                       allocate(layer.kv_heads, layer.value_dim, layer.value_dtype)});
    scratch_bytes = std::max(
        {scratch_bytes, layers_.back().keys.cache.nbytes(), layers_.back().values.cache.nbytes()});
  }
  scratch_ = at::empty({static_cast<int64_t>(scratch_bytes)},
                       at::TensorOptions().dtype(at::kByte).device(spec_.device));
}

KvStorage::Half KvStorage::allocate(int64_t kv_heads, int64_t dim, at::ScalarType dtype) const {
  const std::array<int64_t, 4> sizes{spec_.rows, kv_heads, spec_.slots, dim};
  const auto options = at::TensorOptions().dtype(dtype).device(spec_.device);
  if (spec_.kernels == Kernels::registered) return {at::zeros(sizes, options), {}};
  const int64_t entries = spec_.rows * kv_heads * spec_.slots;
  const at::Tensor flat = at::zeros({entries + 1, dim}, options);
  return {flat.narrow(0, 0, entries).view(sizes), flat};
}

at::Tensor KvStorage::bytes_of(const Half& half) const {
  return half.cache.view({spec_.rows, -1}).view(at::kByte);
}

void KvStorage::append(int64_t layer, const at::Tensor& new_keys, const at::Tensor& new_values,
                       const at::Tensor& rows, const at::Tensor& positions) {
  const Layer& l = layers_.at(static_cast<size_t>(layer));
  if (spec_.kernels == Kernels::torch) {
    torch_ops::append_(l.keys.flat, l.values.flat, new_keys, new_values, rows, positions,
                       spec_.slots);
  } else {
    ops::append_(l.keys.cache, l.values.cache, new_keys, new_values, rows, positions);
  }
}

KeysValues KvStorage::view(int64_t layer) const {
  const Layer& l = layers_.at(static_cast<size_t>(layer));
  return {.keys = l.keys.cache, .values = l.values.cache, .block_table = {}};
}

void KvStorage::gather(const Half& half, const at::Tensor& from) {
  at::Tensor bytes = bytes_of(half);
  at::Tensor scratch = scratch_.narrow(0, 0, bytes.numel()).view(bytes.sizes());
  at::index_select_out(scratch, bytes, 0, from);
  bytes.copy_(scratch);
}

void KvStorage::gather(const at::Tensor& from) {
  for (const Layer& layer : layers_) {
    gather(layer.keys, from);
    gather(layer.values, from);
  }
}

void KvStorage::reorder(std::span<const int64_t> from) {
  std::ranges::copy(from, order_.host(0).begin());
  order_.upload();
  gather(order_.device(0, spec_.rows));
}

void KvStorage::copy_row(int64_t from, int64_t to) {
  if (from == to) return;
  for (const Layer& layer : layers_) {
    for (const Half* half : {&layer.keys, &layer.values}) {
      half->cache.select(0, to).copy_(half->cache.select(0, from));
    }
  }
}

std::vector<Buffer> KvStorage::buffers() const {
  std::vector<Buffer> buffers;
  buffers.reserve(2 * layers_.size() + 4);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const auto layer = static_cast<int64_t>(i);
    buffers.push_back({"keys", Role::keys, layer, layers_[i].keys.cache});
    buffers.push_back({"values", Role::values, layer, layers_[i].values.cache});
  }
  return buffers;
}

std::optional<Place> KvStorage::locate(int64_t layer, int64_t row, int64_t head, int64_t slot,
                                       Role role) const {
  if (slot < 0 || slot >= spec_.slots) return std::nullopt;
  const bool keys = role == Role::keys;
  const Layer& l = layers_.at(static_cast<size_t>(layer));
  const LayerSpec& shape = spec_.layers[static_cast<size_t>(layer)];
  const int64_t dim = keys ? shape.key_dim : shape.value_dim;
  const auto element = static_cast<int64_t>((keys ? l.keys : l.values).cache.element_size());
  const int64_t entry = (row * shape.kv_heads + head) * spec_.slots + slot;
  return Place{static_cast<size_t>(2 * layer + (keys ? 0 : 1)), entry * dim * element, element,
               dim};
}

}  // namespace thaw
