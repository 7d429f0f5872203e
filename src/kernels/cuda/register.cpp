// SPDX-License-Identifier: Apache-2.0
//
// Registers the CUDA kernels of operators.h, on LibTorch's current stream. Only in CUDA builds.

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

#include <optional>

#include "kernels/checked_arguments.h"
#include "kernels/cuda/launch.h"

namespace thaw::kernels::cuda {
namespace {

/// On the device of `tensor`, whichever is current.
template <class Arguments>
void launch(void (*kernel)(const Arguments&, cudaStream_t), const at::Tensor& tensor,
            const Arguments& arguments) {
  const c10::cuda::CUDAGuard device(tensor.device());
  kernel(arguments, c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}  // namespace
}  // namespace thaw::kernels::cuda

TORCH_LIBRARY_IMPL(thaw, CUDA, library) {
  using at::Tensor;
  using namespace thaw::kernels;
  library.impl(
      "append_", [](const Tensor& keys, const Tensor& values, const Tensor& new_keys,
                    const Tensor& new_values, const Tensor& rows, const Tensor& positions) {
        cuda::launch(&cuda::launch_append, keys,
                     append_arguments(keys, values, new_keys, new_values, rows, positions));
      });
  library.impl("count_refused_", [](const Tensor& refused, const Tensor& rows,
                                    const Tensor& positions, int64_t q_len, int64_t slots) {
    cuda::launch(&cuda::launch_count_refused, refused,
                 count_refused_arguments(refused, rows, positions, q_len, slots));
  });
  library.impl("tag_", [](const Tensor& new_keys, const Tensor& new_values, const Tensor& rows,
                          const Tensor& positions, const Tensor& generation, int64_t layer) {
    cuda::launch(&cuda::launch_tag, new_keys,
                 tag_arguments(new_keys, new_values, rows, positions, generation, layer));
  });
  library.impl("visible_sum_", [](const Tensor& out, const Tensor& keys, const Tensor& values,
                                  const std::optional<Tensor>& block_table, const Tensor& rows,
                                  const Tensor& positions, int64_t window, bool ring) {
    cuda::launch(
        &cuda::launch_visible_sum, out,
        visible_sum_arguments(out, keys, values, block_table, rows, positions, window, ring));
  });
}
