// SPDX-License-Identifier: Apache-2.0
//
// Registers the backend "sim" with LibTorch: device guard, streams, events and hooks. Registration
// is by static initialiser, so this file must be linked as an object.

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/headeronly/version.h>

#include <algorithm>

#include "device/sim/allocator.h"
#include "device/sim/node.h"
#include "device/sim/random.h"
#include "device/sim/runtime.h"

namespace thaw::sim {

namespace {

/// A captured event is a set of nodes, not a moment (rule 27). One that was recorded outside a
/// capture stands for the work that its stream held.
struct Event {
  std::shared_ptr<CaptureState> capture;
  std::vector<size_t> frontier;
  std::vector<WorkQueue::Id> work;
};

c10::Stream stream_of(int64_t id) { return c10::Stream(c10::Stream::UNSAFE, torch_device(), id); }

/// cudaStreamWaitEvent (rules 28 to 30).
void wait_for(StreamState& stream, const Event* event) {
  constexpr std::string_view call = "cudaStreamWaitEvent";
  if (stream.capture != nullptr && stream.capture->invalid) {
    throw device_error(Error::capture_invalidated, call);
  }
  if (event == nullptr || event->capture == nullptr) {
    if (stream.capture != nullptr) fail(Error::capture_isolation, call, stream.capture.get());
    return;
  }
  if (event->capture->ended) fail(Error::captured_event, call, stream.capture.get());
  if (event->capture->invalid) throw device_error(Error::capture_invalidated, call);
  if (stream.capture != nullptr && stream.capture != event->capture) {
    fail(Error::capture_merge, call, stream.capture.get());
  }
  if (stream.capture == nullptr) {
    stream.capture = event->capture;
    stream.frontier.clear();
  }
  std::vector<size_t> both;
  std::set_union(stream.frontier.begin(), stream.frontier.end(), event->frontier.begin(),
                 event->frontier.end(), std::back_inserter(both));
  stream.frontier = std::move(both);
}

/// Rule 17: an event that was last recorded in a capture has no status.
void check_not_captured(const void* pointer, std::string_view call) {
  Context& context = Context::current();
  const auto guard = context.lock();
  context.check_usable(call);
  const auto* event = static_cast<const Event*>(pointer);
  if (event == nullptr || event->capture == nullptr) return;
  fail(Error::captured_event, call, event->capture->ended ? nullptr : event->capture.get());
}

/// Rule 15: a capturing stream has no status either.
void check_not_capturing(const c10::Stream& stream, std::string_view call) {
  Context& context = Context::current();
  const auto guard = context.lock();
  context.check_usable(call);
  if (CaptureState* capture = context.stream(stream.id()).capture.get()) {
    fail(Error::capture_unsupported, call, capture);
  }
  context.check_legacy_stream(stream.id(), call);
}

/// The host waits for what an event stands for. To ask is to wait, too: a device that is done just
/// in time is a legal one, and nobody polls for ever.
void wait_on_host(const void* event) {
  if (event != nullptr) Context::current().finish(static_cast<const Event*>(event)->work);
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  Guard() = default;
  explicit Guard(c10::DeviceType /*type*/) {}

  c10::DeviceType type() const override { return device_type; }
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return torch_device(); }
  c10::Device getDevice() const override { return torch_device(); }
  void setDevice(c10::Device /*device*/) const override {}
  void uncheckedSetDevice(c10::Device /*device*/) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }

  c10::Stream getStream(c10::Device /*device*/) const override {
    return stream_of(Context::current_stream_id());
  }
  c10::Stream getDefaultStream(c10::Device /*device*/) const override {
    return stream_of(Context::default_stream);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device /*device*/, bool /*priority*/) const override {
    return new_stream();
  }
  c10::Stream getNewStream(c10::Device /*device*/, int /*priority*/) const override {
    return new_stream();
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return stream_of(Context::exchange_stream_id(stream.id()));
  }
  bool queryStream(const c10::Stream& stream) const override {
    check_not_capturing(stream, "cudaStreamQuery");
    Context::current().finish_stream(stream.id());
    return true;
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    check_not_capturing(stream, "cudaStreamSynchronize");
    Context::current().finish_stream(stream.id());
  }
  void synchronizeDevice(c10::DeviceIndex /*device*/) const override { synchronize_device(); }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex /*device*/,
              c10::EventFlag /*flag*/) const override {
    Context& context = Context::current();
    const auto guard = context.lock();
    const StreamState& state = context.stream(stream.id());
    if (state.capture != nullptr && state.capture->invalid) {
      throw device_error(Error::capture_invalidated, "cudaEventRecord");
    }
    context.check_legacy_stream(stream.id(), "cudaEventRecord");
    if (*event == nullptr) *event = new Event;  // owned by LibTorch until destroyEvent
    std::vector<WorkQueue::Id> work;
    if (state.capture == nullptr) work = context.queue().frontier(stream.id());
    *static_cast<Event*>(*event) = {state.capture, state.frontier, std::move(work)};
  }
  void block(void* event, const c10::Stream& stream) const override {
    Context& context = Context::current();
    const auto guard = context.lock();
    context.check_legacy_stream(stream.id(), "cudaStreamWaitEvent");
    wait_for(context.stream(stream.id()), static_cast<const Event*>(event));
    if (event != nullptr) {
      context.queue().wait(stream.id(), static_cast<const Event*>(event)->work);
    }
  }
  bool queryEvent(void* event) const override {
    check_not_captured(event, "cudaEventQuery");
    Context::current().potentially_unsafe_call("cudaEventQuery");
    wait_on_host(event);
    return true;
  }
  void synchronizeEvent(void* event) const override {
    check_not_captured(event, "cudaEventSynchronize");
    wait_on_host(event);
  }
  double elapsedTime(void* first, void* second, c10::DeviceIndex /*device*/) const override {
    check_not_captured(first, "cudaEventElapsedTime");
    check_not_captured(second, "cudaEventElapsedTime");
    return 0;
  }
  void destroyEvent(void* event, c10::DeviceIndex /*device*/) const noexcept override {
    delete static_cast<Event*>(event);
  }
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 12
  bool isStreamCapturing(const c10::Stream& stream) const override {
    Context& context = Context::current();
    const auto guard = context.lock();
    return context.stream(stream.id()).capture != nullptr;
  }
#endif
};

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex /*device*/) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex /*device*/) const override {}
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex /*device*/) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex /*device*/) const override { return 0; }
  bool isPinnedPtr(const void* address) const override { return is_pinned(address); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator(); }
  c10::Device getDeviceFromPtr(void* /*address*/) const override { return torch_device(); }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex /*device*/) const override {
    return Context::current().generator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex /*device*/) const override {
    return at::make_generator<PhiloxGenerator>();
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    resize_storage(*storage.unsafeGetStorageImpl(), bytes);
  }
};

[[maybe_unused]] const bool registered = [] {
  c10::SetAllocator(device_type, &device_allocator());
  at::setHostAllocator(device_type, &pinned_allocator());
  c10::register_privateuse1_backend("sim");
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // LibTorch keeps it for good
  return true;
}();

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace

}  // namespace thaw::sim
