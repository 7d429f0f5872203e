// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/device.h"

namespace thaw::cuda {

/// Which addresses LibTorch's allocator has handed out, at one moment.
class Allocations {
 public:
  struct Block {
    uintptr_t address = 0;
    size_t bytes = 0;      ///< of the block
    size_t requested = 0;  ///< of the tensor in it; 0: free
    uint64_t pool = 0;     ///< 0: the general one
  };
  explicit Allocations(std::vector<Block> blocks);
  /// As they are now.
  static Allocations now();

  /// The block that holds an address, with the block's address and size; empty if nobody has it.
  /// Blocks of `own_pool` count also where they are free: a graph keeps them (rule 43).
  std::optional<MemoryUse> find(uintptr_t address, uint64_t own_pool) const;

 private:
  std::vector<Block> blocks_;  ///< in the order of their addresses
};

/// Pinned host memory that holds an address, as CUDA knows it; empty for other memory.
std::optional<MemoryUse> find_pinned(uintptr_t address);

}  // namespace thaw::cuda
