// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/indexing.cuh"
#include "kernels/cuda/launch.h"

namespace thaw::kernels::cuda {
namespace {

/// The block that holds `slot` of `row`, or one that does not exist.
__device__ int64_t block_of(const VisibleSumArguments& a, int64_t row, int64_t slot) {
  if (a.block_table == nullptr) return row;
  return a.block_table[row * a.blocks_of_a_row + slot / a.keys.slots];
}

/// One thread an element of out.
__global__ void visible_sum(const VisibleSumArguments a) {
  const int64_t item = item_of_thread();
  const int64_t dim = a.keys.dim;
  if (item >= a.places.count * a.heads * a.q_len * dim) return;
  const int64_t element = item % dim;
  const NewEntry query(item / dim, a.heads, a.q_len);
  const int64_t row = a.places.rows[query.place];
  const int64_t position = a.places.positions[query.place];
  if (is_padding(row, position)) return;

  float sum = 0;
  if (row >= 0 && row < a.rows) {
    const int64_t capacity = a.blocks_of_a_row * a.keys.slots;
    const int64_t kv_head = query.head / (a.heads / a.keys.heads);
    const Range range =
        visible_positions(position, query.token, Sight{a.q_len, a.window, a.ring, capacity});
    for (int64_t seen = range.begin; seen < range.end; ++seen) {
      const int64_t slot = seen % capacity;
      const int64_t block = block_of(a, row, slot);
      if (block < 0 || block >= a.keys.outer) continue;
      const int64_t in_block = slot % a.keys.slots;
      sum += load(entry(a.keys, block, kv_head, in_block), a.key_element, element) +
             2 * load(entry(a.values, block, kv_head, in_block), a.value_element, element);
    }
  }
  a.out[item] = sum;
}

}  // namespace

void launch_visible_sum(const VisibleSumArguments& arguments, cudaStream_t stream) {
  const int64_t elements =
      arguments.places.count * arguments.heads * arguments.q_len * arguments.keys.dim;
  if (elements == 0) return;
  visible_sum<<<blocks_for(elements), threads_per_block, 0, stream>>>(arguments);
}

}  // namespace thaw::kernels::cuda
