// SPDX-License-Identifier: Apache-2.0
#include "device/sim/sim_device.h"

#include <c10/core/StreamGuard.h>

#include <cstring>
#include <stdexcept>

#include "device/sim/allocator.h"
#include "device/sim/capture.h"
#include "device/sim/context.h"
#include "device/sim/random.h"

namespace thaw {

namespace {

/// A side stream for one capture.
class SideStream {
 public:
  explicit SideStream(sim::Context& context) : context_(context), id_(context.take_side_stream()) {}
  ~SideStream() { context_.give_back_side_stream(id_); }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  c10::Stream stream() const { return c10::Stream(c10::Stream::UNSAFE, sim::torch_device(), id_); }

 private:
  sim::Context& context_;
  int64_t id_;
};

/// The bytes of a contiguous tensor, where they can be read and written.
std::span<std::byte> bytes_of(const at::Tensor& tensor) {
  if (!tensor.is_contiguous()) {
    throw std::invalid_argument("bytes of a tensor that is not contiguous");
  }
  const void* address = tensor.const_data_ptr();
  const bool on_device = tensor.device() == sim::torch_device();
  if (!on_device && !tensor.is_cpu()) throw std::invalid_argument("a tensor of another device");
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(address));
  if (on_device && address != nullptr) bytes = sim::Memory::accessible(address);
  return {bytes, tensor.nbytes()};
}

void check_no_capture(sim::Context& context) {
  const auto guard = context.lock();
  if (!context.captures().empty()) {
    throw std::logic_error("memory is written from outside while a capture is under way");
  }
}

}  // namespace

SimDevice::SimDevice(const SimOptions& options)
    : options_(options),
      context_(std::make_shared<sim::Context>(
          sim::Context::Options{.memory_bytes = options.memory_bytes,
                                .poison_freed = options.poison_freed,
                                .strict_captures = options.strict_captures,
                                .process = options.process})),
      guard_(std::make_unique<sim::ContextGuard>(*context_)) {}

SimDevice::~SimDevice() {
  const auto guard = context_->lock();
  context_->queue().start(Schedule::early, 0);
}

c10::Device SimDevice::torch_device() const { return sim::torch_device(); }

DeviceAbilities SimDevice::abilities() const {
  DeviceAbilities abilities;
  abilities.exact_liveness = true;
  abilities.typed_arguments = true;
  abilities.replay_orders = true;
  abilities.behaviours = true;
  return abilities;
}

void SimDevice::synchronize() { context_->synchronize("cudaDeviceSynchronize"); }

std::unique_ptr<Graph> SimDevice::capture(const std::function<void()>& step,
                                          const CaptureOptions& options) {
  const sim::ContextGuard on_this_device(*context_);
  const SideStream side(*context_);
  const c10::StreamGuard on_side_stream(side.stream());
  sim::Capture capture(sim::CaptureMode::global, options.pool);
  step();
  return capture.end();
}

std::span<const std::byte> SimDevice::read(const at::Tensor& tensor,
                                           std::vector<std::byte>& /*scratch*/) const {
  context_->finish_all();  // before anybody looks
  return bytes_of(tensor);
}

void SimDevice::write(const at::Tensor& tensor, size_t offset, std::span<const std::byte> bytes) {
  check_no_capture(*context_);
  const std::span<std::byte> target = bytes_of(tensor);
  if (offset > target.size() || bytes.size() > target.size() - offset) {
    throw std::out_of_range("a write past the end of a tensor");
  }
  if (bytes.empty()) return;
  std::byte* to = target.data() + offset;
  if (context_->queue().defers()) {
    context_->enqueue([to, staged = std::vector<std::byte>(bytes.begin(), bytes.end())] {
      std::memcpy(to, staged.data(), staged.size());
    });
  } else {
    std::memcpy(to, bytes.data(), bytes.size());
  }
}

void SimDevice::fill(const at::Tensor& tensor, std::byte value) {
  check_no_capture(*context_);
  const std::span<std::byte> target = bytes_of(tensor);
  if (target.empty()) return;
  if (context_->queue().defers()) {
    context_->enqueue([=] { std::memset(target.data(), static_cast<int>(value), target.size()); });
  } else {
    std::memset(target.data(), static_cast<int>(value), target.size());
  }
}

GeneratorState SimDevice::generator() const { return sim::philox(context_->generator()).state(); }

void SimDevice::set_generator(const GeneratorState& state) {
  sim::check_not_capturing("set_generator");
  sim::philox(context_->generator()).set(state);
}

MemoryState SimDevice::state(const MemoryUse& use) const {
  const auto guard = context_->lock();
  const sim::Block* block = context_->memory().find(use.address);
  if (block == nullptr) return use.generation == 0 ? MemoryState::live : MemoryState::freed;
  if (block->generation != use.generation) return MemoryState::reused;
  // What a graph's own pool handed out in its capture stays the graph's when tensors go (rule 46).
  return block->live || use.own_pool ? MemoryState::live : MemoryState::freed;
}

MemoryUse SimDevice::memory_of(const at::Tensor& tensor) const {
  MemoryUse use;
  const c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  use.address = reinterpret_cast<uintptr_t>(storage.data());
  use.bytes = storage.nbytes();
  use.host = tensor.is_cpu();
  if (const sim::Block* block = sim::block_of(storage)) use.generation = block->generation;
  return use;
}

void SimDevice::reset(const DeviceBehaviour& behaviour) {
  const auto guard = context_->lock();
  context_->queue().start(behaviour.schedule, behaviour.seed);
  context_->reset();
  context_->set_lazy_loading(behaviour.lazy_libraries);
  context_->set_poison_freed(options_.poison_freed);
}

void SimDevice::set_poison_freed(bool poison) { context_->set_poison_freed(poison); }

void SimDevice::set_note_call_stacks(bool note) { context_->set_note_call_stacks(note); }

}  // namespace thaw
