// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/arguments.h"

/// Enqueue the kernels of operators.h on a CUDA stream. All pointers are device memory; errors of
/// the launch are left to cudaGetLastError. One kernel each, so one node of a graph each.
namespace thaw::kernels::cuda {

void launch_append(const AppendArguments& arguments, cudaStream_t stream);
void launch_count_refused(const CountRefusedArguments& arguments, cudaStream_t stream);
void launch_tag(const TagArguments& arguments, cudaStream_t stream);
void launch_visible_sum(const VisibleSumArguments& arguments, cudaStream_t stream);

}  // namespace thaw::kernels::cuda
