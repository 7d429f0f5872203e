// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/staged_integers.h"

namespace thaw {

/// Keys and values of all layers, [rows, kv_heads, slots, dim] each. Allocated at construction;
/// no operation gives a buffer another address. A paged cache calls its blocks rows.
///
/// With Kernels::torch a layer's storage ends in one more entry, where LibTorch's index_copy_ puts
/// what is skipped; the tensors that others see leave it out.
class KvStorage {
 public:
  explicit KvStorage(const CacheSpec& spec);

  /// Inside a step: ops::append_ to `layer`.
  void append(int64_t layer, const at::Tensor& new_keys, const at::Tensor& new_values,
              const at::Tensor& rows, const at::Tensor& positions);
  /// Without a block table.
  KeysValues view(int64_t layer) const;
  /// Row i takes all slots of what row from[i] held, `from` [rows] int64 on the device, through
  /// scratch that exists since construction.
  void gather(const at::Tensor& from);

  /// The same, outside a capture.
  void reorder(std::span<const int64_t> from);
  void copy_row(int64_t from, int64_t to);

  /// Keys and values of layer 0, of layer 1 ...: locate counts on KvCache::buffers beginning so.
  std::vector<Buffer> buffers() const;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t slot,
                              Role role) const;

 private:
  /// The keys, or the values, of a layer.
  struct Half {
    at::Tensor cache;  ///< [rows, kv_heads, slots, dim]
    at::Tensor flat;   ///< with Kernels::torch the storage [entries + 1, dim], else undefined
  };
  struct Layer {
    Half keys, values;
  };
  Half allocate(int64_t kv_heads, int64_t dim, at::ScalarType dtype) const;
  /// As [rows, bytes of a row], so that rows of any dtype can be moved.
  at::Tensor bytes_of(const Half& half) const;
  void gather(const Half& half, const at::Tensor& from);

  CacheSpec spec_;
  std::vector<Layer> layers_;
  StagedIntegers order_;  ///< [1, rows]: the argument of reorder, on the device
  at::Tensor scratch_;    ///< bytes, as many as the largest half of a layer has
};

}  // namespace thaw
