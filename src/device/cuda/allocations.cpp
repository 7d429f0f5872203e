// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/allocations.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "device/cuda/driver.h"

namespace thaw::cuda {

Allocations::Allocations(std::vector<Block> blocks) : blocks_(std::move(blocks)) {
  std::sort(blocks_.begin(), blocks_.end(),
            [](const Block& a, const Block& b) { return a.address < b.address; });
}

Allocations Allocations::now() {
  std::vector<Block> found;
  for (const auto& segment : c10::cuda::CUDACachingAllocator::snapshot().segments) {
    uintptr_t address = segment.address;
    for (const auto& block : segment.blocks) {
      found.push_back({.address = address,
                       .bytes = block.size,
                       .requested = block.active ? block.requested_size : 0,
                       .pool = segment.owner_private_pool_id.first});
      address += block.size;
    }
  }
  return Allocations(std::move(found));
}

std::optional<MemoryUse> Allocations::find(uintptr_t address, uint64_t own_pool) const {
  auto after =
      std::upper_bound(blocks_.begin(), blocks_.end(), address,
                       [](uintptr_t wanted, const Block& block) { return wanted < block.address; });
  if (after == blocks_.begin()) return {};
  const Block& block = *--after;
  const bool own = own_pool != 0 && block.pool == own_pool;
  if (address - block.address >= block.bytes || (block.requested == 0 && !own)) return {};
  MemoryUse use;
  use.address = block.address;
  use.bytes = block.requested == 0 ? block.bytes : block.requested;
  use.own_pool = own;
  return use;
}

std::optional<MemoryUse> find_pinned(uintptr_t address) {
  cudaPointerAttributes attributes{};
  const auto* pointer = reinterpret_cast<const void*>(address);
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess ||
      attributes.type != cudaMemoryTypeHost) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  MemoryUse use;
  use.address = address;
  use.host = true;
  if (const auto range = Driver::get().allocation_of(address)) {
    use.address = range->address;
    use.bytes = range->bytes;
  }
  return use;
}

}  // namespace thaw::cuda
