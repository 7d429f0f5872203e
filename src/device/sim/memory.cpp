// SPDX-License-Identifier: Apache-2.0
#include "device/sim/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace thaw::sim {

namespace {

constexpr int poison = 0xFF;  // NaN in every float type, -1 in signed integers

/// Beyond this size, pages go back to the system at a reset.
constexpr size_t kept_at_reset = size_t{64} << 20;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Reserves addresses for both mappings and maps one anonymous file twice: first without access,
/// then, at the constant distance, with it.
std::byte* map_twice(size_t bytes) {
  const int file = memfd_create("thaw-sim", MFD_CLOEXEC);
  if (file < 0) throw_errno("memfd_create");
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) throw_errno("ftruncate");
  const size_t reserved = Memory::mapping_distance + bytes;
  constexpr int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  void* base =
      mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw_errno("mmap");
  if (mmap(base, bytes, PROT_NONE, flags, file, 0) == MAP_FAILED ||
      mmap(Memory::accessible(base), bytes, PROT_READ | PROT_WRITE, flags, file, 0) == MAP_FAILED) {
    throw_errno("mmap");
  }
  close(file);
  return static_cast<std::byte*>(base);
}

}  // namespace

size_t Memory::KindHash::operator()(const Kind& kind) const {
  const uint64_t units = kind.bytes / granularity;
  const uint64_t place = (kind.pool << 20) ^ (static_cast<uint64_t>(kind.stream) << 1) ^ kind.host;
  return (units + (place << 24)) * 0x9E3779B97F4A7C15ull >> 16;
}

Memory::Kind Memory::kind_of(const Block& block) {
  return {block.pool, block.stream, block.bytes, block.host};
}

Memory::Memory(size_t bytes) : capacity_(bytes) {
  if (bytes == 0 || bytes > mapping_distance) {
    throw std::invalid_argument("a simulated device has between 1 byte and 64 GiB of memory");
  }
  base_ = map_twice(bytes);
  pools_.resize(1);
}

Memory::~Memory() { munmap(base_, mapping_distance + capacity_); }

Block* Memory::take(const Request& request) {
  const size_t bytes = (request.bytes + granularity - 1) / granularity * granularity;
  const Kind kind{request.pool, request.stream, bytes, request.host};
  Block* block = pop(kind);
  const bool fresh = block == nullptr;
  if (fresh) {
    block = pop({of_nobody, 0, bytes, request.host});
    if (block == nullptr) block = carve(kind);
    if (block == nullptr) return nullptr;
    block->pool = kind.pool;
    block->stream = kind.stream;
  }
  if (fresh || request.fill) std::memset(bytes_of(*block), poison, bytes);
  block->generation = next_generation_++;
  block->live = true;
  ++live_;
  return block;
}

Block* Memory::pop(const Kind& kind) {
  const auto list = free_.find(kind);
  if (list == free_.end() || list->second == nullptr) return nullptr;
  Block* block = list->second;
  list->second = block->next_free;
  block->next_free = nullptr;
  return block;
}

Block* Memory::carve(const Kind& kind) {
  if (capacity_ - used_ < kind.bytes) return nullptr;
  if (block_count_ == blocks_.size()) blocks_.emplace_back();
  Block& block = blocks_[block_count_++];
  std::byte* address = base_ + used_;
  block = Block{};
  block.address = kind.host ? accessible(address) : address;
  block.bytes = kind.bytes;
  block.host = kind.host;
  used_ += kind.bytes;
  return &block;
}

void Memory::make_available(Block& block) {
  const bool pool_ended = block.pool != 0 && pools_[block.pool] == 0;
  if (pool_ended) {
    block.pool = of_nobody;
    block.stream = 0;
  }
  block.crossed_streams = false;
  Block*& first = free_[kind_of(block)];
  block.next_free = first;
  first = &block;
}

void Memory::give_back(Block& block, bool fill, bool postponed) {
  if (fill) std::memset(bytes_of(block), poison, block.bytes);
  block.mirrors.clear();
  block.live = false;
  --live_;
  if (postponed) {
    postponed_.push_back(&block);
  } else {
    make_available(block);
  }
}

void Memory::hand_out_postponed() {
  for (Block* block : postponed_) make_available(*block);
  postponed_.clear();
}

uint64_t Memory::new_pool() {
  pools_.push_back(0);
  return pools_.size() - 1;
}

void Memory::retain_pool(uint64_t pool) { ++pools_[pool]; }

void Memory::release_pool(uint64_t pool, bool fill) {
  if (--pools_[pool] > 0) return;
  std::erase_if(free_, [pool](const auto& list) { return list.first.pool == pool; });
  for (size_t i = 0; i < block_count_; ++i) {
    Block& block = blocks_[i];
    const bool postponed = block.crossed_streams;
    if (block.pool != pool || block.live || postponed) continue;
    if (fill) std::memset(bytes_of(block), poison, block.bytes);  // replays wrote to free blocks
    make_available(block);
  }
}

const Block* Memory::find(uintptr_t address) const {
  const auto base = reinterpret_cast<uintptr_t>(base_);
  if (address < base) return nullptr;
  size_t offset = address - base;
  if (offset >= mapping_distance) offset -= mapping_distance;
  if (offset >= used_) return nullptr;
  const auto end = blocks_.begin() + static_cast<std::ptrdiff_t>(block_count_);
  const auto after =
      std::upper_bound(blocks_.begin(), end, offset, [this](size_t value, const Block& block) {
        const std::byte* first = block.host ? block.address - mapping_distance : block.address;
        return value < static_cast<size_t>(first - base_);
      });
  return &*std::prev(after);
}

MemoryStats Memory::stats(uint64_t pool) const {
  MemoryStats stats;
  for (size_t i = 0; i < block_count_; ++i) {
    const Block& block = blocks_[i];
    if (block.pool != pool || block.host) continue;
    ++stats.blocks;
    if (block.live) stats.live_bytes += block.bytes;
  }
  return stats;
}

void Memory::reset() {
  if (used_ > kept_at_reset && madvise(accessible(base_), used_, MADV_REMOVE) != 0) {
    throw_errno("madvise");
  }
  used_ = 0;
  block_count_ = 0;
  free_.clear();
  postponed_.clear();
  pools_.resize(1);
  next_generation_ = 1;
}

}  // namespace thaw::sim
