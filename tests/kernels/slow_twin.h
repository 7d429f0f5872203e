// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// The operators again, element by element as their contract says it, without regard to speed: on
/// CPU tensors, with positions wide enough that none overflows.
namespace thaw::slow_twin {

void append_(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& new_keys,
             const at::Tensor& new_values, const at::Tensor& rows, const at::Tensor& positions);
void count_refused_(const at::Tensor& refused, const at::Tensor& rows, const at::Tensor& positions,
                    int64_t q_len, int64_t slots);
void tag_(const at::Tensor& new_keys, const at::Tensor& new_values, const at::Tensor& rows,
          const at::Tensor& positions, const at::Tensor& generation, int64_t layer);
void visible_sum_(const at::Tensor& out, const at::Tensor& keys, const at::Tensor& values,
                  const at::Tensor& block_table, const at::Tensor& rows,
                  const at::Tensor& positions, int64_t window, bool ring);

}  // namespace thaw::slow_twin
