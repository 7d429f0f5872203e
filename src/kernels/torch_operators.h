// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// The twin of thaw::ops in plain LibTorch operations: any device that runs those runs these. They
/// can be captured: no host synchronisation, and no shape that depends on device memory. Slower by
/// an order of magnitude, written independently, and equal bit for bit (see operators.h for what
/// each one does and for padding).
namespace thaw::torch_ops {

/// As ops::append_, but on the flat storage of a layer, since index_copy_ must put what is skipped
/// somewhere: flat_keys [rows * kv_heads * slots + 1, key_dim], contiguous, and flat_values alike.
/// The last entry is scratch. The cache's own view of the storage is
/// flat_keys.narrow(0, 0, rows * kv_heads * slots).view({rows, kv_heads, slots, key_dim}).
/// kv_heads is that of new_keys, rows follows from the size.
void append_(const at::Tensor& flat_keys, const at::Tensor& flat_values, const at::Tensor& new_keys,
             const at::Tensor& new_values, const at::Tensor& rows, const at::Tensor& positions,
             int64_t slots);

void count_refused_(const at::Tensor& refused, const at::Tensor& rows, const at::Tensor& positions,
                    int64_t q_len, int64_t slots);

void tag_(const at::Tensor& new_keys, const at::Tensor& new_values, const at::Tensor& rows,
          const at::Tensor& positions, const at::Tensor& generation, int64_t layer);

void visible_sum_(const at::Tensor& out, const at::Tensor& keys, const at::Tensor& values,
                  const at::Tensor& block_table, const at::Tensor& rows,
                  const at::Tensor& positions, int64_t window, bool ring);

}  // namespace thaw::torch_ops
