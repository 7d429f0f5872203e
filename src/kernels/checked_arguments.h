// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "kernels/arguments.h"

/// From the tensors of an operator to the arguments of its kernel. Looks at devices, dtypes, sizes
/// and strides, never at device memory. Throws c10::Error that names operator, argument and sizes.
namespace thaw::kernels {

AppendArguments append_arguments(const at::Tensor& keys, const at::Tensor& values,
                                 const at::Tensor& new_keys, const at::Tensor& new_values,
                                 const at::Tensor& rows, const at::Tensor& positions);

CountRefusedArguments count_refused_arguments(const at::Tensor& refused, const at::Tensor& rows,
                                              const at::Tensor& positions, int64_t q_len,
                                              int64_t slots);

TagArguments tag_arguments(const at::Tensor& new_keys, const at::Tensor& new_values,
                           const at::Tensor& rows, const at::Tensor& positions,
                           const at::Tensor& generation, int64_t layer);

VisibleSumArguments visible_sum_arguments(const at::Tensor& out, const at::Tensor& keys,
                                          const at::Tensor& values,
                                          const std::optional<at::Tensor>& block_table,
                                          const at::Tensor& rows, const at::Tensor& positions,
                                          int64_t window, bool ring);

}  // namespace thaw::kernels
