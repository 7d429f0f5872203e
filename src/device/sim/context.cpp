// SPDX-License-Identifier: Apache-2.0
#include "device/sim/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "device/sim/node.h"
#include "device/sim/random.h"

namespace thaw::sim {

namespace {

/// What a thread works with. LibTorch's interfaces pass no context along, so it has to be kept per
/// thread, as the CUDA runtime does with the current device.
struct ThreadChoice {
  Context* context = nullptr;
  int64_t stream = Context::default_stream;
};

thread_local ThreadChoice chosen;
thread_local std::vector<ThreadChoice> outer_choices;
thread_local bool in_host_function = false;

/// The contexts of the process, for threads without a choice (autograd's, for instance).
struct Registry {
  std::mutex mutex;
  std::vector<Context*> contexts;
};

Registry& registry() {
  static auto* registry = new Registry;  // tensors of static storage duration may need it last
  return *registry;
}

Context* only_context(size_t& count) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  count = registry().contexts.size();
  return count == 1 ? registry().contexts.front() : nullptr;
}

}  // namespace

// --- The current context.

Context::Context(const Options& options)
    : memory_(options.memory_bytes),
      poison_freed_(options.poison_freed),
      strict_captures_(options.strict_captures),
      process_(options.process != nullptr ? options.process : std::make_shared<Process>()),
      streams_(1) {
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().contexts.push_back(this);
}

Context::~Context() {
  std::lock_guard<std::mutex> lock(registry().mutex);
  std::erase(registry().contexts, this);
}

Context* Context::current_or_null() noexcept {
  if (chosen.context != nullptr) return chosen.context;
  size_t count = 0;
  return only_context(count);
}

Context& Context::current() {
  if (chosen.context != nullptr) return *chosen.context;
  size_t count = 0;
  if (Context* context = only_context(count)) return *context;
  throw std::logic_error(
      count == 0 ? "there is no simulated device: construct a thaw::SimDevice first"
                 : "this thread has not chosen among several simulated devices: construct a "
                   "thaw::sim::ContextGuard first");
}

ContextGuard::ContextGuard(Context& context) : context_(context) {
  outer_choices.push_back(chosen);
  chosen = {&context, Context::default_stream};
}

ContextGuard::~ContextGuard() {
  if (chosen.context == &context_) {
    chosen = outer_choices.back();
    outer_choices.pop_back();
    return;
  }
  const auto mine = std::find_if(outer_choices.rbegin(), outer_choices.rend(),
                                 [&](const auto& choice) { return choice.context == &context_; });
  if (mine != outer_choices.rend()) outer_choices.erase(std::next(mine).base());
}

// --- Memory.

Block& Context::take(const Memory::Request& request) {
  Block* block = memory_.take(request);
  if (block == nullptr) {
    throw device_error(Error::memory_allocation,
                       fmt::format("allocation of {} bytes", request.bytes));
  }
  block->owner = this;
  if (while_blocks_live_ == nullptr) while_blocks_live_ = shared_from_this();
  return *block;
}

Block& Context::allocate(size_t bytes) {
  const auto guard = lock();
  const CaptureState* capture = current_stream().capture.get();
  if (capture != nullptr && capture->invalid) {
    throw device_error(Error::capture_invalidated, "allocation");
  }
  Memory::Request request;
  request.bytes = bytes;
  request.pool = capture != nullptr ? capture->pool : 0;
  request.stream = current_stream_id();
  request.fill = capture != nullptr;
  return take(request);
}

Block& Context::allocate_pinned(size_t bytes) {
  const auto guard = lock();
  potentially_unsafe_call("cudaHostAlloc");
  Memory::Request request;
  request.bytes = bytes;
  request.host = true;
  return take(request);
}

void Context::release(Block& block) {
  std::shared_ptr<Context> last;  // goes after the lock
  const auto guard = lock();
  if (C10_UNLIKELY(!queue_.empty())) {
    release_beside_work(block);
  } else {
    memory_.give_back(block, poison_freed_, block.crossed_streams && !captures_.empty());
  }
  if (memory_.live_blocks() == 0) last.swap(while_blocks_live_);
}

/// Memory that was freed is filled when its stream gets there, for work before that may still use
/// it. On other streams such work is not ordered by anything: what was used on several, and what
/// replays use, waits for all of it.
void Context::release_beside_work(Block& block) {
  if (!block.host && (block.crossed_streams || block.pool != 0)) {
    try {
      finish_all();
    } catch (const DeviceError&) {  // stays, and is reported by the next call
    }
  }
  const bool later = !block.host && !queue_.empty() && poison_freed_;
  if (later) {
    queue_.enqueue(block.stream, [bytes = Memory::bytes_of(block), size = block.bytes] {
      std::memset(bytes, 0xFF, size);
    });
  }
  memory_.give_back(block, poison_freed_ && !later, block.crossed_streams && !captures_.empty());
}

void Context::record_stream(Block& block, int64_t stream) {
  const auto guard = lock();
  if (stream != block.stream) block.crossed_streams = true;
}

// --- Streams.

int64_t Context::current_stream_id() noexcept { return chosen.stream; }

int64_t Context::exchange_stream_id(int64_t id) noexcept {
  return std::exchange(chosen.stream, id);
}

StreamState& Context::stream(int64_t id) {
  if (id < 0 || static_cast<size_t>(id) >= streams_.size()) {
    throw std::logic_error("a stream of another simulated device, or of before its reset");
  }
  return streams_[static_cast<size_t>(id)];
}

int64_t Context::new_stream(bool blocking) {
  const auto guard = lock();
  streams_.emplace_back().blocking = blocking;
  return static_cast<int64_t>(streams_.size()) - 1;
}

int64_t Context::take_side_stream() {
  const auto guard = lock();
  if (idle_side_streams_.empty()) return new_stream();
  const int64_t id = idle_side_streams_.back();
  idle_side_streams_.pop_back();
  return id;
}

void Context::give_back_side_stream(int64_t id) {
  const auto guard = lock();
  idle_side_streams_.push_back(id);
}

// --- Work that has not run yet.

namespace {

/// A kernel that fails takes the device with it (rule 54).
template <class Wait>
void or_fail_device(Context& context, Wait wait) {
  try {
    wait();
  } catch (const DeviceError& error) {
    context.fail_device(error);
  }
}

}  // namespace

WorkQueue::Id Context::enqueue(std::function<void()> work) {
  const auto guard = lock();
  const int64_t stream = current_stream_id();
  for (size_t other = 1; other < streams_.size(); ++other) {  // the legacy stream waits for these
    const auto id = static_cast<int64_t>(other);
    if (streams_[other].blocking && stream == default_stream) {
      queue_.wait(stream, queue_.frontier(id));
    }
  }
  if (this->stream(stream).blocking) queue_.wait(stream, queue_.frontier(default_stream));
  WorkQueue::Id id = 0;
  or_fail_device(*this, [&] { id = queue_.enqueue(stream, std::move(work)); });
  return id;
}

void Context::finish(std::span<const WorkQueue::Id> work) {
  if (!queue_.defers()) return;
  const auto guard = lock();
  or_fail_device(*this, [&] { queue_.finish(work); });
}

void Context::finish_stream(int64_t stream) {
  if (!queue_.defers()) return;
  const auto guard = lock();
  or_fail_device(*this, [&] { queue_.finish_stream(stream); });
}

void Context::finish_all() {
  if (!queue_.defers()) return;
  const auto guard = lock();
  or_fail_device(*this, [&] { queue_.finish_all(); });
}

// --- Captures.

CaptureState* Context::capture_for(std::string_view call) {
  check_usable(call);
  CaptureState* capture = current_stream().capture.get();
  if (capture != nullptr && capture->invalid) throw device_error(Error::capture_invalidated, call);
  check_legacy_stream(current_stream_id(), call);
  return capture;
}

void Context::begin_capture(const std::shared_ptr<CaptureState>& capture) {
  finish_all();
  process_->begin(*capture);
  captures_.push_back(capture.get());
  StreamState& origin = stream(capture->origin);
  origin.capture = capture;
  origin.frontier.clear();
}

void Context::end_capture(CaptureState& capture, bool failed) {
  capture.ended = true;
  std::erase(captures_, &capture);
  process_->end(capture);
  if (failed && strict_captures_) process_->failed_for_good();
  for (StreamState& stream : streams_) {
    if (stream.capture.get() != &capture) continue;
    stream.capture = nullptr;
    stream.frontier.clear();
  }
  if (captures_.empty()) memory_.hand_out_postponed();
}

CaptureState* Context::blocking_capture_beside(int64_t stream) const {
  if (stream != default_stream || captures_.empty()) return nullptr;
  const auto capturing = std::find_if(
      streams_.begin(), streams_.end(),
      [](const StreamState& other) { return other.blocking && other.capture != nullptr; });
  return capturing != streams_.end() ? capturing->capture.get() : nullptr;
}

void Context::check_legacy_stream(int64_t stream, std::string_view call) {
  if (CaptureState* capture = blocking_capture_beside(stream)) {
    fail(Error::capture_implicit, call, capture);
  }
}

void Context::potentially_unsafe_call(std::string_view call) {
  const auto guard = lock();
  check_usable(call);
  process_->potentially_unsafe_call(call);
}

void Context::synchronize(std::string_view call) {
  const auto guard = lock();
  check_usable(call);
  fail_for_all(Error::capture_unsupported, call, captures_);
  finish_all();
}

void Context::refuse(std::string_view what) {
  const auto guard = lock();
  if (CaptureState* capture = current_stream().capture.get()) capture->invalid = true;
  throw not_simulated_error(what);
}

// --- Errors that stay, first uses.

void Context::fail_device(const DeviceError& error) {
  const auto guard = lock();
  if (!failure_) failure_ = error;
  throw DeviceError(error);
}

void Context::check_usable(std::string_view call) const {
  if (in_host_function) throw device_error(Error::not_permitted, call);
  if (failure_) {
    throw DeviceError(failure_->code(),
                      fmt::format("{} (reported again by {})", failure_->what(), call));
  }
}

void Context::load(const c10::OperatorHandle& op) {
  if (!lazy_loading_ || loaded_.count(&op.schema()) > 0) return;
  potentially_unsafe_call("the first use of " + op.schema().name());
  loaded_.insert(&op.schema());
}

HostFunctionScope::HostFunctionScope() { in_host_function = true; }

HostFunctionScope::~HostFunctionScope() { in_host_function = false; }

// --- Random numbers, reset.

at::Generator& Context::generator() {
  const auto guard = lock();
  if (!generator_) generator_ = at::make_generator<PhiloxGenerator>();
  return *generator_;
}

void Context::reset() {
  const auto guard = lock();
  const size_t blocks = memory_.live_blocks();
  if (blocks > 0 || graphs_alive_ > 0 || !captures_.empty()) {
    throw std::logic_error(
        fmt::format("reset of a simulated device while {} blocks of memory, {} graphs and {} "
                    "captures are alive",
                    blocks, graphs_alive_, captures_.size()));
  }
  if (current_stream_id() != default_stream) {
    throw std::logic_error("reset of a simulated device while a side stream is current");
  }
  memory_.reset();
  streams_.resize(1);
  idle_side_streams_.clear();
  generator_.reset();
  failure_.reset();
  loaded_.clear();
  process_->forget_failure();
}

}  // namespace thaw::sim
