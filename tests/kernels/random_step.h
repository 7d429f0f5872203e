// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <random>

namespace thaw {

/// All that the operators take, with random sizes, contents and (also hostile) positions, on the
/// CPU. The cache is a view of a flat storage with one entry more, as torch_ops::append_ wants it.
struct RandomStep {
  explicit RandomStep(uint64_t seed);

  int64_t row_count, kv_heads, slots, places, q_len, heads, window, layer;
  bool ring;
  at::Tensor flat_keys, flat_values;  ///< [row_count * kv_heads * slots + 1, dim]
  at::Tensor new_keys, new_values, rows, positions, generation, refused, out;
  at::Tensor block_table;               ///< undefined, or [row_count, blocks_of_a_row]
  at::Tensor paged_keys, paged_values;  ///< if there is a table

  at::Tensor keys() const { return view(flat_keys); }
  at::Tensor values() const { return view(flat_values); }
  /// A copy that shares nothing.
  RandomStep on(c10::Device device) const;
  /// Other rows, positions and generation, in the same tensors.
  void refill(uint64_t seed) const;

 private:
  at::Tensor view(const at::Tensor& flat) const;
};

/// Same dtype, sizes and bytes; both on the CPU.
bool same_bytes(const at::Tensor& a, const at::Tensor& b);

}  // namespace thaw
