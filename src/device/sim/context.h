// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "device/sim/errors.h"
#include "device/sim/memory.h"

namespace thaw::sim {

struct CaptureState;

/// Which other calls a capture forbids, and which a thread may make beside captures (rule 24).
/// The names are those of cudaStreamCaptureMode.
enum class CaptureMode { global, thread_local_, relaxed };

constexpr c10::DeviceType device_type = c10::DeviceType::PrivateUse1;
inline c10::Device torch_device() { return {device_type, 0}; }

/// Where a stream stands. Work runs at once, so outside a capture a stream has nothing to remember.
struct StreamState {
  std::shared_ptr<CaptureState> capture;  ///< that it belongs to, or null
  std::vector<size_t> frontier;           ///< nodes that its next node must follow
};

/// One simulated device: memory, streams, captures, random numbers. All of it is guarded by one
/// lock, which every operation takes. Lives as long as its blocks and graphs.
class Context : public std::enable_shared_from_this<Context> {
 public:
  static constexpr int64_t default_stream = 0;

  Context(size_t memory_bytes, bool poison_freed);
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
  int64_t new_stream();
  int64_t take_side_stream();  ///< one that nobody uses, the last given back first
  void give_back_side_stream(int64_t id);

  // Captures.
  /// The capture of the current stream, or null. Throws 901 when it was invalidated (rule 7).
  CaptureState* capture_for(std::string_view call);
  std::vector<CaptureState*>& captures() { return captures_; }
  /// Takes a capture's streams out of capture mode (rule 5).
  void end_capture(CaptureState& capture);
  /// Work that is not ordered by any stream, such as cudaMalloc (rules 19 and 24).
  void potentially_unsafe_call(std::string_view call);
  void synchronize(std::string_view call);  ///< of everything (rule 16)
  /// "not simulated: what". A capture that cannot hold an operation must not end well, so the
  /// current stream's is invalidated.
  [[noreturn]] void refuse(std::string_view what);

  at::Generator& generator();  ///< what random operators draw from
  size_t& graphs_alive() { return graphs_alive_; }
  /// Everything as after construction but for poison_freed. Throws std::logic_error while blocks,
  /// graphs or captures exist.
  void reset();

 private:
  Block& take(const Memory::Request& request);

  std::recursive_mutex mutex_;
  Memory memory_;
  bool poison_freed_;
  bool note_call_stacks_ = false;
  std::shared_ptr<Context> while_blocks_live_;
  std::deque<StreamState> streams_;
  std::vector<int64_t> idle_side_streams_;
  std::vector<CaptureState*> captures_;  ///< under way, on any thread
  size_t graphs_alive_ = 0;
  std::optional<at::Generator> generator_;
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

// The runtime's calls, on the thread's context.

c10::Stream new_stream();    ///< for c10::StreamGuard; memory is reused only within a stream
bool stream_is_capturing();  ///< the current stream
/// Swaps the thread's mode, as cudaThreadExchangeStreamCaptureMode does; global at first (rule 24).
CaptureMode exchange_thread_mode(CaptureMode mode);
/// Pinned host memory, filled with 0xFF bytes. Refused beside captures like any cudaHostAlloc.
at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType type);
void malloc_and_free();      ///< a cudaMalloc and cudaFree past the caching allocator (rule 19)
void attach_memory_async();  ///< cudaStreamAttachMemAsync, which no graph can hold (rule 20)
void synchronize_device();
MemoryStats memory_stats(uint64_t pool);
size_t live_blocks();

}  // namespace thaw::sim
