// SPDX-License-Identifier: Apache-2.0
#include "device/sim/capture.h"

#include <algorithm>
#include <stdexcept>

#include "device/sim/graph.h"
#include "device/sim/node.h"

namespace thaw::sim {

namespace {

/// Rule 31: every node that is last on some stream must come before something that the origin's
/// next node would follow.
bool all_streams_joined(Context& context, const CaptureState& capture) {
  std::vector<bool> joined(capture.nodes.size());
  std::vector<size_t> pending = context.stream(capture.origin).frontier;
  while (!pending.empty()) {
    const size_t node = pending.back();
    pending.pop_back();
    if (joined[node]) continue;
    joined[node] = true;
    const std::vector<size_t>& before = capture.nodes[node].after;
    pending.insert(pending.end(), before.begin(), before.end());
  }
  return std::all_of(context.streams().begin(), context.streams().end(), [&](const auto& stream) {
    return stream.capture.get() != &capture ||
           std::all_of(stream.frontier.begin(), stream.frontier.end(),
                       [&](size_t node) { return joined[node]; });
  });
}

}  // namespace

Capture::Capture(CaptureMode mode, uint64_t pool)
    : context_(Context::current().shared_from_this()), state_(std::make_shared<CaptureState>()) {
  if (Context::current_stream_id() == Context::default_stream) {
    throw std::logic_error("a capture must be on a stream other than the default one");
  }
  constexpr std::string_view call = "cudaStreamBeginCapture";
  const auto guard = context_->lock();
  if (CaptureState* other = context_->capture_for(call)) {
    fail(Error::capture_unsupported, call, other);
  }
  if (!context_->memory().has_pool(pool)) {
    throw std::invalid_argument("a capture into a pool that no graph has");
  }
  state_->origin = Context::current_stream_id();
  state_->mode = mode;
  state_->thread = std::this_thread::get_id();
  state_->note_call_stacks = context_->note_call_stacks();
  context_->begin_capture(state_);
  state_->pool = pool != 0 ? pool : context_->memory().new_pool();
  context_->memory().retain_pool(state_->pool);
}

Capture::~Capture() {
  if (state_->ended) return;
  const auto guard = context_->lock();
  context_->end_capture(*state_, /*failed=*/true);
  context_->memory().release_pool(state_->pool, context_->poison_freed());
}

std::unique_ptr<Graph> Capture::end() {
  constexpr std::string_view call = "cudaStreamEndCapture";
  if (state_->ended) throw std::logic_error("this capture has ended");
  const auto guard = context_->lock();
  if (Context::current_stream_id() != state_->origin || &Context::current() != context_.get()) {
    state_->invalid = true;
    throw device_error(Error::capture_unmatched, call);
  }
  if (state_->mode != CaptureMode::relaxed && state_->thread != std::this_thread::get_id()) {
    throw device_error(Error::capture_wrong_thread, call);
  }
  const bool joined = all_streams_joined(*context_, *state_);
  const bool failed = state_->invalid || !joined;
  context_->end_capture(*state_, failed);
  if (failed) {
    context_->memory().release_pool(state_->pool, context_->poison_freed());
    throw device_error(state_->invalid ? Error::capture_invalidated : Error::capture_unjoined,
                       call);
  }
  return std::make_unique<SimGraph>(context_, *state_);
}

uint64_t Capture::pool() const { return state_->pool; }

bool Capture::invalidated() const { return state_->invalid; }

}  // namespace thaw::sim
