// SPDX-License-Identifier: Apache-2.0
#include "device/sim/allocator.h"

#include <algorithm>
#include <cstring>

#include "device/sim/context.h"

namespace thaw::sim {

namespace {

void release(void* block) {
  auto* released = static_cast<Block*>(block);
  released->owner->release(*released);
}

c10::DataPtr no_memory(c10::Device device) {
  return {nullptr, nullptr, &c10::detail::deleteNothing, device};
}

class SimAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return no_memory(torch_device());
    Block& block = Context::current().allocate(bytes);
    return {block.address, &block, &release, torch_device()};
  }
  // A block, not its address, is what a deleter needs: so there is no raw deleter.
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    Context::current().finish_all();
    std::memcpy(Memory::accessible(to), Memory::accessible(from), bytes);
  }
  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t /*pool*/ = {0, 0}) override {
    Context::current().potentially_unsafe_call("cudaFree");
  }
  void recordStream(const c10::DataPtr& pointer, c10::Stream stream) override {
    if (pointer.get_deleter() != &release) return;
    auto* block = static_cast<Block*>(pointer.get_context());
    block->owner->record_stream(*block, stream.id());
  }
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex /*device*/) override {
    return {};
  }
  void resetAccumulatedStats(c10::DeviceIndex /*device*/) override {}
  void resetPeakStats(c10::DeviceIndex /*device*/) override {}
};

class PinnedAllocator final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return no_memory(c10::Device(c10::kCPU));
    Block& block = Context::current().allocate_pinned(bytes);
    return {block.address, &block, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  bool record_event(void* /*pointer*/, void* /*context*/, c10::Stream /*stream*/) override {
    return false;
  }
  void empty_cache() override { Context::current().potentially_unsafe_call("cudaFreeHost"); }
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

SimAllocator device_allocator_instance;
PinnedAllocator pinned_allocator_instance;

}  // namespace

c10::DeviceAllocator& device_allocator() { return device_allocator_instance; }

at::HostAllocator& pinned_allocator() { return pinned_allocator_instance; }

Block* block_of(const c10::StorageImpl& storage) {
  const c10::DataPtr& pointer = storage.data_ptr();
  if (pointer.get_deleter() != &release) return nullptr;
  return static_cast<Block*>(pointer.get_context());
}

bool is_pinned(const void* address) {
  Context* context = Context::current_or_null();
  if (context == nullptr) return false;
  const auto guard = context->lock();
  const Block* block = context->memory().find(reinterpret_cast<uintptr_t>(address));
  return block != nullptr && block->host && block->live;
}

void resize_storage(c10::StorageImpl& storage, size_t bytes) {
  Context& context = Context::current();
  const auto guard = context.lock();
  const size_t kept = std::min(storage.nbytes(), bytes);
  if (kept > 0 && context.capture_for("resize") != nullptr) {
    context.refuse("growing memory that has contents, in a capture");
  }
  c10::DataPtr fresh = device_allocator_instance.allocate(bytes);
  if (kept > 0) {
    context.finish_all();
    std::memcpy(Memory::accessible(fresh.get()), Memory::accessible(storage.data()), kept);
  }
  storage.set_data_ptr(std::move(fresh));
  storage.set_nbytes(bytes);
}

}  // namespace thaw::sim
