// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "device/device.h"

namespace thaw {

namespace sim {
class Context;
class ContextGuard;
class Process;
}  // namespace sim

struct SimOptions {
  /// Freed memory is filled with 0xFF bytes; else it keeps its contents until it is used again.
  bool poison_freed = true;
  /// Address space; pages cost memory only once touched. At most 64 GiB.
  size_t memory_bytes = size_t{16} << 30;
  /// A capture that fails leaves the process unable to capture, as LibTorch's does, until the next
  /// reset (rule 14).
  bool strict_captures = false;
  /// Of another device (sim::Context::process), for two devices of one process. Null: a process of
  /// its own, which no other device's captures reach (rule 24).
  std::shared_ptr<sim::Process> process;
};

/// A device with CUDA's rules of capture and replay, on the CPU: see README.md beside this file.
/// It is current on the thread that made it, and for threads that have none of their own (see
/// sim::ContextGuard); destroy it on that thread. Tensors may outlive it.
///
/// Operations run when they are enqueued, unless a reset asks for another schedule. Besides
/// DeviceError, they throw what LibTorch throws for wrong shapes and the like, before anything was
/// enqueued.
class SimDevice final : public Device {
 public:
  explicit SimDevice(const SimOptions& options = {});
  ~SimDevice() override;
  SimDevice(const SimDevice&) = delete;
  SimDevice& operator=(const SimDevice&) = delete;

  std::string_view name() const override { return "sim"; }
  c10::Device torch_device() const override;
  DeviceAbilities abilities() const override;
  void synchronize() override;
  /// All captures that do not nest run on one side stream, so graphs that share a pool also reuse
  /// its memory.
  std::unique_ptr<Graph> capture(const std::function<void()>& step,
                                 const CaptureOptions& options = {}) override;
  /// No copy. Also reads host tensors.
  std::span<const std::byte> read(const at::Tensor& tensor,
                                  std::vector<std::byte>& scratch) const override;
  void write(const at::Tensor& tensor, size_t offset, std::span<const std::byte> bytes) override;
  void fill(const at::Tensor& tensor, std::byte value) override;
  GeneratorState generator() const override;
  void set_generator(const GeneratorState& state) override;
  MemoryState state(const MemoryUse& use) const override;
  MemoryUse memory_of(const at::Tensor& tensor) const override;
  /// Also poison_freed is as at construction.
  void reset(const DeviceBehaviour& behaviour = {}) override;

  void set_poison_freed(bool poison);
  void set_note_call_stacks(bool note) override;
  sim::Context& context() { return *context_; }

 private:
  SimOptions options_;
  std::shared_ptr<sim::Context> context_;
  std::unique_ptr<sim::ContextGuard> guard_;
};

}  // namespace thaw
