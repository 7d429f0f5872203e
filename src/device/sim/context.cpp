// SPDX-License-Identifier: Apache-2.0
#include "device/sim/context.h"

#include <fmt/format.h>

#include <algorithm>
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
thread_local CaptureMode thread_mode = CaptureMode::global;

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

void fail(Error error, std::string_view call, CaptureState* capture) {
  const bool was_invalid = capture != nullptr && capture->invalid;
  if (capture != nullptr) capture->invalid = true;
  throw device_error(was_invalid ? Error::capture_invalidated : error, call);
}

namespace {

/// Fails for one call that several captures forbid, and invalidates all of them.
void fail_for_all(Error error, std::string_view call, const std::vector<CaptureState*>& captures) {
  if (captures.empty()) return;
  const auto valid = std::find_if(captures.begin(), captures.end(),
                                  [](const CaptureState* capture) { return !capture->invalid; });
  CaptureState* named = valid != captures.end() ? *valid : captures.front();
  for (CaptureState* capture : captures) {
    if (capture != named) capture->invalid = true;
  }
  fail(error, call, named);
}

}  // namespace

// --- The current context.

Context::Context(size_t memory_bytes, bool poison_freed)
    : memory_(memory_bytes), poison_freed_(poison_freed), streams_(1) {
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
  const CaptureState* capture = capture_for("allocation");
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
  memory_.give_back(block, poison_freed_, block.crossed_streams && !captures_.empty());
  if (memory_.live_blocks() == 0) last.swap(while_blocks_live_);
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

int64_t Context::new_stream() {
  const auto guard = lock();
  streams_.emplace_back();
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

// --- Captures.

CaptureState* Context::capture_for(std::string_view call) {
  CaptureState* capture = current_stream().capture.get();
  if (capture != nullptr && capture->invalid) throw device_error(Error::capture_invalidated, call);
  return capture;
}

void Context::end_capture(CaptureState& capture) {
  capture.ended = true;
  std::erase(captures_, &capture);
  for (StreamState& stream : streams_) {
    if (stream.capture.get() != &capture) continue;
    stream.capture = nullptr;
    stream.frontier.clear();
  }
  if (captures_.empty()) memory_.hand_out_postponed();
}

void Context::potentially_unsafe_call(std::string_view call) {
  if (thread_mode == CaptureMode::relaxed) return;
  const auto guard = lock();
  std::vector<CaptureState*> conflicts;
  for (CaptureState* capture : captures_) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool conflicting =
        own ? capture->mode != CaptureMode::relaxed
            : thread_mode == CaptureMode::global && capture->mode == CaptureMode::global;
    if (conflicting) conflicts.push_back(capture);
  }
  fail_for_all(Error::capture_unsupported, call, conflicts);
}

void Context::synchronize(std::string_view call) {
  const auto guard = lock();
  fail_for_all(Error::capture_unsupported, call, captures_);
}

void Context::refuse(std::string_view what) {
  const auto guard = lock();
  if (CaptureState* capture = current_stream().capture.get()) capture->invalid = true;
  throw not_simulated_error(what);
}

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
}

// --- The runtime's calls.

c10::Stream new_stream() {
  return c10::Stream(c10::Stream::UNSAFE, torch_device(), Context::current().new_stream());
}

bool stream_is_capturing() {
  Context& context = Context::current();
  const auto guard = context.lock();
  return context.current_stream().capture != nullptr;
}

CaptureMode exchange_thread_mode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

void malloc_and_free() { Context::current().potentially_unsafe_call("cudaMalloc"); }

void attach_memory_async() {
  Context& context = Context::current();
  const auto guard = context.lock();
  if (CaptureState* capture = context.current_stream().capture.get()) {
    fail(Error::capture_unsupported, "cudaStreamAttachMemAsync", capture);
  }
}

void synchronize_device() { Context::current().synchronize("cudaDeviceSynchronize"); }

MemoryStats memory_stats(uint64_t pool) {
  Context& context = Context::current();
  const auto guard = context.lock();
  return context.memory().stats(pool);
}

size_t live_blocks() { return Context::current().memory().live_blocks(); }

}  // namespace thaw::sim
