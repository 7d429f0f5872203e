// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/arguments.h"

/// How the threads of a launch find their work. One thread an item, in as many blocks as that
/// takes.
namespace thaw::kernels::cuda {

constexpr int threads_per_block = 128;

inline unsigned blocks_for(int64_t items) {
  return static_cast<unsigned>((items + threads_per_block - 1) / threads_per_block);
}

__device__ inline int64_t item_of_thread() {
  return static_cast<int64_t>(blockIdx.x) * threads_per_block + threadIdx.x;
}

/// Place, head and token of an item that counts through new entries in their order.
struct NewEntry {
  int64_t place, head, token;

  __device__ NewEntry(int64_t item, int64_t heads, int64_t tokens)
      : place(item / tokens / heads), head(item / tokens % heads), token(item % tokens) {}
};

template <class Byte>
__device__ Byte* entry(const EntriesOf<Byte>& entries, int64_t outer, int64_t head, int64_t slot) {
  return entries.data + outer * entries.outer_stride + head * entries.head_stride +
         slot * entries.slot_stride;
}

}  // namespace thaw::kernels::cuda
