// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic.h"
#include "kernels/cuda/indexing.cuh"
#include "kernels/cuda/launch.h"

namespace thaw::kernels::cuda {
namespace {

/// One thread a place.
__global__ void count_refused(const CountRefusedArguments a) {
  const int64_t place = item_of_thread();
  if (place >= a.places.count) return;
  const int64_t position = a.places.positions[place];
  if (is_padding(a.places.rows[place], position)) return;
  const int64_t refused = a.q_len - tokens_inside(position, a.q_len, a.slots).size();
  if (refused == 0) return;
  // The sum of two's complement numbers is the same in unsigned arithmetic, which atomicAdd has.
  atomicAdd(reinterpret_cast<unsigned long long*>(a.refused),
            static_cast<unsigned long long>(refused));
}

}  // namespace

void launch_count_refused(const CountRefusedArguments& arguments, cudaStream_t stream) {
  if (arguments.places.count == 0) return;
  count_refused<<<blocks_for(arguments.places.count), threads_per_block, 0, stream>>>(arguments);
}

}  // namespace thaw::kernels::cuda
