// SPDX-License-Identifier: Apache-2.0
#include "device/sim/runtime.h"

#include <ATen/EmptyTensor.h>
#include <torch/library.h>

#include <cstring>

#include "device/sim/allocator.h"
#include "device/sim/recorder.h"

namespace thaw::sim {

namespace {

c10::Stream stream_of(int64_t id) { return c10::Stream(c10::Stream::UNSAFE, torch_device(), id); }

void memset_kernel(at::Tensor& tensor, int64_t value) {
  if (tensor.numel() > 0) {
    std::memset(tensor.mutable_data_ptr(), static_cast<int>(value), tensor.nbytes());
  }
}

// As operators, so that they are recorded and described like any other.
TORCH_LIBRARY(thaw_runtime, m) {
  m.def("memset(Tensor(a!) tensor, int value) -> ()");
  m.def("host() -> ()");
}

TORCH_LIBRARY_IMPL(thaw_runtime, CPU, m) { m.impl("memset", memset_kernel); }

}  // namespace

c10::Stream new_stream() { return stream_of(Context::current().new_stream()); }

c10::Stream new_blocking_stream() {
  return stream_of(Context::current().new_stream(/*blocking=*/true));
}

bool stream_is_capturing() {
  Context& context = Context::current();
  const auto guard = context.lock();
  if (context.blocking_capture_beside(Context::current_stream_id()) != nullptr) {
    throw device_error(Error::capture_implicit, "cudaStreamIsCapturing");
  }
  return context.current_stream().capture != nullptr;
}

void synchronize_device() { Context::current().synchronize("cudaDeviceSynchronize"); }

at::Tensor pinned_empty(at::IntArrayRef sizes, at::ScalarType type) {
  return at::detail::empty_generic(sizes, &pinned_allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::CPU), type, std::nullopt);
}

void malloc_and_free() { Context::current().potentially_unsafe_call("cudaMalloc"); }

void attach_memory_async() {
  Context& context = Context::current();
  const auto guard = context.lock();
  if (CaptureState* capture = context.capture_for("cudaStreamAttachMemAsync")) {
    fail(Error::capture_unsupported, "cudaStreamAttachMemAsync", capture);
  }
}

void memset_async(const at::Tensor& tensor, uint8_t value) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("thaw_runtime::memset", "")
                             .typed<void(at::Tensor&, int64_t)>();
  if (tensor.device() != torch_device() || !tensor.is_contiguous()) {
    throw std::invalid_argument("memset_async takes a contiguous tensor of the simulated device");
  }
  at::Tensor target = tensor;
  op.call(target, value);
}

void launch_host_function(std::function<void()> function) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("thaw_runtime::host", "");
  Context& context = Context::current();
  const auto guard = context.lock();
  CaptureState* capture = context.capture_for("cudaLaunchHostFunc");
  Node node(op, plan_of(op));
  node.host_function = std::move(function);
  if (capture != nullptr) {
    append(*capture, std::move(node));
    return;
  }
  const auto run = [node = std::make_shared<const Node>(std::move(node))] {
    torch::jit::Stack scratch;
    run_node(*node, scratch);
  };
  if (context.queue().defers()) {
    context.enqueue(run);
  } else {
    run();
  }
}

MemoryStats memory_stats(uint64_t pool) {
  Context& context = Context::current();
  const auto guard = context.lock();
  return context.memory().stats(pool);
}

size_t live_blocks() {
  Context& context = Context::current();
  const auto guard = context.lock();
  return context.memory().live_blocks();
}

}  // namespace thaw::sim
