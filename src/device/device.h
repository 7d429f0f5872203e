// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace thaw {

/// The device refused or failed something. `code` is the number of cudaError_t: 900 to 908 concern
/// captures (a refusal); others are errors of work that ran.
class DeviceError : public std::runtime_error {
 public:
  DeviceError(int code, const std::string& what) : std::runtime_error(what), code_(code) {}
  int code() const { return code_; }
  bool refused_capture() const { return code_ >= 900 && code_ <= 908; }

 private:
  int code_;
};

/// What a device can tell. Oracles that need more list themselves as not covered.
struct DeviceAbilities {
  bool exact_liveness = false;   ///< knows of every address whether it was freed or handed out anew
  bool typed_arguments = false;  ///< Graph::nodes tells arguments by name and type
  bool replay_orders = false;    ///< can replay in other legal orders
  bool behaviours = false;       ///< follows DeviceBehaviour; others behave as they do
};

/// When work that streams and events leave free is done: at once, as late as allowed, or in a legal
/// order drawn from a seed.
enum class Schedule { early, late, shuffle };

/// What a device may choose freely, fixed from one reset to the next.
struct DeviceBehaviour {
  Schedule schedule = Schedule::early;
  uint64_t seed = 1;            ///< of Schedule::shuffle
  bool lazy_libraries = false;  ///< libraries make their state at first use (rule 22)
  bool operator==(const DeviceBehaviour&) const = default;
};

/// Where a device's generator stands: the next random operator draws the Philox numbers of `seed`
/// from `offset` on, and moves the offset past them (rules 55 to 58).
struct GeneratorState {
  uint64_t seed = 67280421310721;  ///< LibTorch's default
  uint64_t offset = 0;             ///< a multiple of 4
  bool operator==(const GeneratorState&) const = default;
};

/// Whether memory still is what it was when somebody noted it.
enum class MemoryState { live, freed, reused };

/// One piece of memory, host or device, as a graph knows it: an address and, where the device
/// counts them, the generation of the allocation that lay there.
struct MemoryUse {
  uintptr_t address = 0;
  size_t bytes = 0;
  uint64_t generation = 0;
  bool host = false;      ///< pinned host memory
  bool own_pool = false;  ///< allocated by the capture, in the graph's pool
  bool read = false;
  bool written = false;
};

/// One host value that a node froze, or the memory that it refers to.
struct Argument {
  std::string name;  ///< as in the operator's schema
  std::string type;  ///< "int", "float", "Tensor", ...
  std::string text;  ///< "8", "2.5", "[0, 1]"; for a tensor its dtype, sizes and strides
  std::optional<MemoryUse> memory;
};

/// One recorded operation.
struct GraphNode {
  std::string operation;  ///< "aten::add.out", "thaw::append_", "memcpy", "memset", "host"
  std::vector<Argument> arguments;
  std::vector<size_t> after;  ///< nodes that must have run before this one
  /// Functions that were running when it was recorded, innermost first; empty unless the device was
  /// asked to note them.
  std::vector<std::string> recorded_by = {};
};

/// A captured step. Destroying it frees it; its pool's memory goes with the pool's last graph.
class Graph {
 public:
  virtual ~Graph() = default;

  /// Runs the recorded operations once, on the recorded addresses, with the recorded host values.
  /// With a seed (see DeviceAbilities::replay_orders) in an order drawn from it among those that
  /// the edges allow. Throws DeviceError.
  virtual void replay(std::optional<uint64_t> order_seed = std::nullopt) = 0;

  virtual std::vector<GraphNode> nodes() const = 0;
  virtual size_t node_count() const = 0;
  /// Every piece of memory that a replay touches, each once.
  virtual std::span<const MemoryUse> memory() const = 0;
  virtual uint64_t pool() const = 0;
  /// Graphviz text of operations and edges (rule 64).
  virtual std::string dot() const = 0;
};

struct CaptureOptions {
  uint64_t pool = 0;  ///< Graph::pool of a graph to share memory with; 0: a pool of its own
};

/// Where tensors live and graphs run. Only implementations know how capture works.
///
/// An error of work that ran stays (rule 54): from the call that reports it on, everything that
/// enqueues work or waits for it throws the same DeviceError.
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view name() const = 0;  ///< "sim" or "cuda"
  virtual c10::Device torch_device() const = 0;
  virtual DeviceAbilities abilities() const = 0;

  /// Waits for all work. Throws DeviceError for what failed on the way.
  virtual void synchronize() = 0;

  /// Records on a side stream what `step` enqueues, and runs none of it (rules 1 to 5). Throws
  /// DeviceError if the device refuses; what `step` itself throws passes through. Either way no
  /// capture is left under way.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& step,
                                         const CaptureOptions& options = {}) = 0;

  /// The bytes of a contiguous tensor. A device that can be looked at without a copy returns its
  /// own memory; others copy into `scratch`. Waits for all work. Valid until the device does
  /// anything.
  virtual std::span<const std::byte> read(const at::Tensor& tensor,
                                          std::vector<std::byte>& scratch) const = 0;
  /// Overwrites bytes of a contiguous tensor from `offset` on, outside any capture. Enqueued on the
  /// current stream, like `fill`; the bytes are copied first, so the caller may reuse them at once.
  virtual void write(const at::Tensor& tensor, size_t offset, std::span<const std::byte> bytes) = 0;
  /// Fills all bytes of a contiguous tensor, outside any capture.
  virtual void fill(const at::Tensor& tensor, std::byte value) = 0;

  /// The device's own generator. Captures use none of it up; each replay draws anew, the bits that
  /// eager work would draw (rule 56).
  virtual GeneratorState generator() const = 0;
  /// Throws std::invalid_argument for an offset that is no multiple of 4, and c10::Error in a
  /// capture of the current stream, which stays valid (rule 23).
  virtual void set_generator(const GeneratorState& state) = 0;

  /// Needs exact_liveness; otherwise always live.
  virtual MemoryState state(const MemoryUse& use) const = 0;
  /// What a tensor's storage is now, in the terms that graphs use.
  virtual MemoryUse memory_of(const at::Tensor& tensor) const = 0;

  /// Whether captures note with each node which functions recorded it (GraphNode::recorded_by):
  /// slow, off at first, left as it is by a reset. A device that cannot tell ignores it.
  virtual void set_note_call_stacks(bool note) {}

  /// Everything back to how it was at first use, but for the behaviour: the same case gives the
  /// same bits after any other. Throws std::logic_error while tensors or graphs of the device are
  /// alive, and DeviceError where an error that stays can only be left with the process (rule 54).
  virtual void reset(const DeviceBehaviour& behaviour = {}) = 0;
};

}  // namespace thaw
