// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace thaw::sim {

class Context;

/// CPU tensors over a block's bytes that kernels were given lately (see mirror.h). They own
/// nothing.
struct BlockMirrors {
  c10::Storage storage;
  c10::SmallVector<at::Tensor, 2> tensors;  ///< of different geometry
  size_t next_replaced = 0;

  void clear() {
    if (!storage) return;
    storage = {};
    tensors.clear();
    next_replaced = 0;
  }
};

/// One place of memory that is handed out, taken back and handed out again. Blocks never move,
/// split or merge, so an address belongs to one block until the device is reset.
struct Block {
  Context* owner = nullptr;
  std::byte* address = nullptr;  ///< as tensors see it
  size_t bytes = 0;
  uint64_t pool = 0;        ///< 0: the general one; else a graph's
  int64_t stream = 0;       ///< memory is handed out again on the stream it was taken on
  uint64_t generation = 0;  ///< of the last hand-out; never repeats
  bool live = false;
  bool host = false;             ///< pinned host memory
  bool crossed_streams = false;  ///< used on another stream as well, since it was handed out
  Block* next_free = nullptr;
  BlockMirrors mirrors;  ///< while live
};

struct MemoryStats {
  size_t live_bytes = 0;
  size_t blocks = 0;
};

/// A device's memory: one arena, mapped twice. The address that device tensors carry cannot be read
/// or written (a host access faults); kernels and the harness reach the same bytes at a constant
/// distance. Pinned host memory lies in the same arena and carries the second address.
/// Fresh memory holds 0xFF bytes, and so does freed memory if the caller says so. Not thread-safe.
class Memory {
 public:
  /// Distance between the two mappings of a byte, the same for all devices of the process.
  static constexpr size_t mapping_distance = size_t{64} << 30;
  static constexpr size_t granularity = 512;

  explicit Memory(size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  struct Request {
    size_t bytes = 0;
    uint64_t pool = 0;
    int64_t stream = 0;
    bool host = false;
    bool fill = false;  ///< 0xFF also where the memory was used before
  };
  /// A block of that pool and stream, last freed first; else of a pool that ended; else new memory.
  /// Null when memory is exhausted.
  Block* take(const Request& request);
  /// The block's memory may be handed out again, at once unless `postponed`.
  void give_back(Block& block, bool fill, bool postponed);
  void hand_out_postponed();  ///< what was postponed may be handed out from now on

  uint64_t new_pool();
  void retain_pool(uint64_t pool);
  /// With its last user a pool ends, and anybody may get its memory (rules 43 and 48).
  void release_pool(uint64_t pool, bool fill);
  bool has_pool(uint64_t pool) const { return pool < pools_.size(); }

  /// The block that an address (of either mapping) lies in, or null.
  const Block* find(uintptr_t address) const;
  MemoryStats stats(uint64_t pool) const;
  size_t live_blocks() const { return live_; }
  /// Everything as after construction. No block may be live.
  void reset();

  static std::byte* accessible(const void* address) {
    return static_cast<std::byte*>(const_cast<void*>(address)) + mapping_distance;
  }
  /// Where the bytes of a block can be read and written.
  static std::byte* bytes_of(const Block& block) {
    return block.host ? block.address : accessible(block.address);
  }

 private:
  struct Kind {
    uint64_t pool;
    int64_t stream;
    size_t bytes;
    bool host;
    bool operator==(const Kind&) const = default;
  };
  struct KindHash {
    size_t operator()(const Kind& kind) const;
  };
  static constexpr uint64_t of_nobody = UINT64_MAX;  ///< in place of a pool that ended

  static Kind kind_of(const Block& block);
  Block* pop(const Kind& kind);
  Block* carve(const Kind& kind);
  void make_available(Block& block);

  std::byte* base_ = nullptr;
  size_t capacity_;
  size_t used_ = 0;
  std::deque<Block> blocks_;  ///< by address; only the first block_count_ are in use
  size_t block_count_ = 0;
  std::unordered_map<Kind, Block*, KindHash> free_;  ///< lists, last freed first
  std::vector<Block*> postponed_;
  std::vector<size_t> pools_;  ///< how many captures and graphs use each
  uint64_t next_generation_ = 1;
  size_t live_ = 0;
};

}  // namespace thaw::sim
