// SPDX-License-Identifier: Apache-2.0
#include "kernels/arithmetic.h"
#include "kernels/cuda/indexing.cuh"
#include "kernels/cuda/launch.h"

namespace thaw::kernels::cuda {
namespace {

__device__ void copy_entry(const Entries& cache, std::byte* to, const std::byte* from) {
  const auto addresses = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  const int64_t bytes = cache.entry_bytes;
  if ((addresses | static_cast<uintptr_t>(bytes)) % sizeof(uint32_t) == 0) {
    auto* words_to = reinterpret_cast<uint32_t*>(to);
    const auto* words_from = reinterpret_cast<const uint32_t*>(from);
    const int64_t words = bytes / static_cast<int64_t>(sizeof(uint32_t));
    for (int64_t i = threadIdx.x; i < words; i += blockDim.x) words_to[i] = words_from[i];
  } else {
    for (int64_t i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
  }
}

/// One block of threads a new entry.
__global__ void append(const AppendArguments a) {
  const NewEntry added(blockIdx.x, a.new_keys.heads, a.new_keys.slots);
  const int64_t row = a.places.rows[added.place];
  const int64_t position = a.places.positions[added.place];
  if (position == -1 || row < 0 || row >= a.keys.outer) return;
  const Range tokens = tokens_inside(position, a.new_keys.slots, a.keys.slots);
  if (added.token < tokens.begin || added.token >= tokens.end) return;
  const int64_t slot = position + added.token;
  copy_entry(a.keys, entry(a.keys, row, added.head, slot),
             entry(a.new_keys, added.place, added.head, added.token));
  copy_entry(a.values, entry(a.values, row, added.head, slot),
             entry(a.new_values, added.place, added.head, added.token));
}

}  // namespace

void launch_append(const AppendArguments& arguments, cudaStream_t stream) {
  const ConstEntries& added = arguments.new_keys;
  const int64_t entries = added.outer * added.heads * added.slots;
  if (entries == 0) return;
  append<<<static_cast<unsigned>(entries), 32, 0, stream>>>(arguments);
}

}  // namespace thaw::kernels::cuda
