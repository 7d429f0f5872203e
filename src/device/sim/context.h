// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "device/sim/errors.h"
#include "device/sim/memory.h"
#include "device/sim/process.h"
#include "device/sim/work_queue.h"

namespace thaw::sim {

constexpr c10::DeviceType device_type = c10::DeviceType::PrivateUse1;
inline c10::Device torch_device() { return {device_type, 0}; }

/// Where a stream stands in a capture. What it holds outside one is in the queue.
struct StreamState {
  std::shared_ptr<CaptureState> capture;  ///< that it belongs to, or null
  std::vector<size_t> frontier;           ///< nodes that its next node must follow
  bool blocking = false;                  ///< the default stream waits for it, and it for that one
};

/// One simulated device: memory, streams, captures, random numbers. All of it is guarded by one
/// lock, which every operation takes. Lives as long as its blocks and graphs.
class Context : public std::enable_shared_from_this<Context> {
 public:
  static constexpr int64_t default_stream = 0;

  struct Options {
    size_t memory_bytes = 0;
    bool poison_freed = true;
    bool strict_captures = false;
    std::shared_ptr<Process> process;  ///< null: one of its own
  };
  explicit Context(const Options& options);
  ~Context();

  /// The one that the thread uses (see ContextGuard). A thread without a choice of its own uses the
  /// only one of the process. Throws std::logic_error when there is none, or more than one.
  static Context& current();
  static Context* current_or_null() noexcept;

  [[nodiscard]] std::unique_lock<std::recursive_mutex> lock() {
    return std::unique_lock<std::recursive_mutex>(mutex_);
  }

  // Memory.
  Memory& memory() { return memory_; }
  Block& allocate(size_t bytes);         ///< on the current stream; in a capture from its pool
  Block& allocate_pinned(size_t bytes);  ///< potentially unsafe (rule 19)
  void release(Block& block);
  void record_stream(Block& block, int64_t stream);
  bool poison_freed() const { return poison_freed_; }
  void set_poison_freed(bool poison) { poison_freed_ = poison; }
  bool note_call_stacks() const { return note_call_stacks_; }
  void set_note_call_stacks(bool note) { note_call_stacks_ = note; }

  // Streams.
  StreamState& stream(int64_t id);
  const std::deque<StreamState>& streams() const { return streams_; }
  StreamState& current_stream() { return stream(current_stream_id()); }
  static int64_t current_stream_id() noexcept;
  static int64_t exchange_stream_id(int64_t id) noexcept;
  int64_t new_stream(bool blocking = false);
  int64_t take_side_stream();  ///< one that nobody uses, the last given back first
  void give_back_side_stream(int64_t id);

  // Work that has not run yet; with Schedule::early there is none. What fails when it runs fails
  // the call that waited for it, and the device (rule 54).
  WorkQueue& queue() { return queue_; }
  /// On the current stream, outside captures.
  WorkQueue::Id enqueue(std::function<void()> work);
  void finish(std::span<const WorkQueue::Id> work);
  void finish_stream(int64_t stream);
  void finish_all();

  // Captures.
  /// The capture that work enqueued now on the current stream goes into, or null. Throws what keeps
  /// it from being enqueued: 901 when the capture was invalidated (rule 7), 906 on the default
  /// stream beside a blocking stream's capture (rule 18), and what check_usable throws.
  CaptureState* capture_for(std::string_view call);
  const std::vector<CaptureState*>& captures() const { return captures_; }
  /// Waits for all work first, as LibTorch's own users of captures do.
  void begin_capture(const std::shared_ptr<CaptureState>& capture);
  /// Takes a capture's streams out of capture mode (rule 5). One that failed may be the last of the
  /// process (rule 14).
  void end_capture(CaptureState& capture, bool failed);
  /// Of a blocking stream, if the given stream is the default one; else null.
  CaptureState* blocking_capture_beside(int64_t stream) const;
  void check_legacy_stream(int64_t stream, std::string_view call);  ///< throws 906 (rule 18)
  /// Work that is not ordered by any stream, such as cudaMalloc (rules 19 and 24).
  void potentially_unsafe_call(std::string_view call);
  void synchronize(std::string_view call);  ///< of everything (rule 16)
  const std::shared_ptr<Process>& process() const { return process_; }
  /// "not simulated: what". A capture that cannot hold an operation must not end well, so the
  /// current stream's is invalidated.
  [[noreturn]] void refuse(std::string_view what);

  // Errors that stay, first uses.
  /// Work failed on the device: throws `error`, and so does check_usable from now on (rule 54).
  [[noreturn]] void fail_device(const DeviceError& error);
  /// Throws the error that stays, and 800 inside a host function.
  void check_usable(std::string_view call) const;
  /// With lazy loading, an operator's first launch is a potentially unsafe call (rule 22).
  void set_lazy_loading(bool lazy) { lazy_loading_ = lazy; }
  void load(const c10::OperatorHandle& op);

  at::Generator& generator();  ///< what random operators draw from
  size_t& graphs_alive() { return graphs_alive_; }
  /// Everything as after construction but for poison_freed and lazy loading. Throws
  /// std::logic_error while blocks, graphs or captures exist.
  void reset();

 private:
  Block& take(const Memory::Request& request);
  void release_beside_work(Block& block);

  std::recursive_mutex mutex_;
  Memory memory_;
  bool poison_freed_;
  bool note_call_stacks_ = false;
  bool strict_captures_;
  std::shared_ptr<Process> process_;
  std::shared_ptr<Context> while_blocks_live_;
  WorkQueue queue_;
  std::deque<StreamState> streams_;
  std::vector<int64_t> idle_side_streams_;
  std::vector<CaptureState*> captures_;  ///< under way, on any thread
  size_t graphs_alive_ = 0;
  std::optional<DeviceError> failure_;
  bool lazy_loading_ = false;
  std::unordered_set<const c10::FunctionSchema*> loaded_;
  std::optional<at::Generator> generator_;
};

/// While a host function of the device's runs on the thread.
class HostFunctionScope {
 public:
  HostFunctionScope();
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

/// Makes a context the thread's, on its default stream, until the guard goes. Guards of a thread
/// may go in any order, but on the thread that made them.
class ContextGuard {
 public:
  explicit ContextGuard(Context& context);
  ~ContextGuard();
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  Context& context_;
};

}  // namespace thaw::sim
