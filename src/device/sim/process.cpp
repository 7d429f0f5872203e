// SPDX-License-Identifier: Apache-2.0
#include "device/sim/process.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "device/sim/node.h"

namespace thaw::sim {

namespace {

thread_local CaptureMode thread_mode = CaptureMode::global;

}  // namespace

CaptureMode exchange_thread_mode(CaptureMode mode) { return std::exchange(thread_mode, mode); }

void fail(Error error, std::string_view call, CaptureState* capture) {
  const bool was_invalid = capture != nullptr && capture->invalid.exchange(true);
  throw device_error(was_invalid ? Error::capture_invalidated : error, call);
}

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

void Process::begin(CaptureState& capture) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (unable_to_capture_) {
    throw device_error(Error::capture_invalidated,
                       "cudaStreamBeginCapture after a capture that failed in this process");
  }
  captures_.push_back(&capture);
}

void Process::end(CaptureState& capture) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase(captures_, &capture);
}

void Process::failed_for_good() {
  std::lock_guard<std::mutex> lock(mutex_);
  unable_to_capture_ = true;
}

void Process::forget_failure() {
  std::lock_guard<std::mutex> lock(mutex_);
  unable_to_capture_ = false;
}

void Process::potentially_unsafe_call(std::string_view call) {
  if (thread_mode == CaptureMode::relaxed) return;
  std::lock_guard<std::mutex> lock(mutex_);
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

}  // namespace thaw::sim
