// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "device/sim/memory.h"

namespace thaw::sim {

/// LibTorch's allocators over the current context's memory: allocation in a capture comes from the
/// graph's pool (rule 41), pinned allocation is a potentially unsafe call (rule 19).
c10::DeviceAllocator& device_allocator();
at::HostAllocator& pinned_allocator();

/// The block that a storage lies in, device or pinned; null for other memory and for empty
/// storages.
Block* block_of(const c10::StorageImpl& storage);
inline Block* block_of(const at::Tensor& tensor) {
  return tensor.has_storage() ? block_of(*tensor.storage().unsafeGetStorageImpl()) : nullptr;
}

bool is_pinned(const void* address);  ///< in the current context

/// Gives a storage other memory, of `bytes`, with its contents so far. Refused in a capture unless
/// the storage is empty: a graph would have to hold the copy.
void resize_storage(c10::StorageImpl& storage, size_t bytes);

}  // namespace thaw::sim
