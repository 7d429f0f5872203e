// SPDX-License-Identifier: Apache-2.0
#include "device/sim/operators.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/util/strides.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>

#include "device/sim/allocator.h"
#include "device/sim/mirror.h"
#include "device/sim/recorder.h"

namespace thaw::sim {

namespace {

using torch::jit::Stack;

// --- Making tensors.

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                 std::optional<at::Layout> /*layout*/, std::optional<at::Device> /*device*/,
                 std::optional<bool> /*pin_memory*/, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &device_allocator(), device_keys,
                                   c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> dtype, std::optional<at::Layout> /*layout*/,
                         std::optional<at::Device> /*device*/, std::optional<bool> /*pin_memory*/) {
  return at::detail::empty_strided_generic(size, stride, &device_allocator(), device_keys,
                                           c10::dtype_or_default(dtype));
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef size,
                          std::optional<at::MemoryFormat> format) {
  resize_device_tensor(self, size);
  if (format && *format != at::MemoryFormat::Preserve) {
    self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage storage, int64_t offset, at::IntArrayRef size,
                        at::IntArrayRef stride) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(storage));
  if (stride.size() == size.size()) {
    impl->set_sizes_and_strides(size, stride, offset);
  } else {
    impl->set_sizes_and_strides(size, c10::contiguous_strides(size), offset);
  }
  return self;
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(),
                     source.strides());
}

/// Lets a module's parameters move between the CPU and the device (torch::nn::Module::to).
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  const auto dense = [](const at::Tensor& tensor) {
    return tensor.layout() == at::kStrided &&
           (tensor.is_cpu() || tensor.device().type() == device_type);
  };
  return dense(self) && dense(from);
}

void record_stream(at::Tensor& self, at::Stream stream) {
  device_allocator().recordStream(self.storage().data_ptr(), stream);
}

// --- Views: no work for the device.

at::Tensor view(const at::Tensor& self, at::IntArrayRef size) {
  return at::native::view(self, size);
}

at::Tensor as_strided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                      std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor reshape_alias(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride) {
  return at::native::_reshape_alias(self, size, stride);
}

at::Tensor unfold(const at::Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return at::native::unfold(self, dimension, size, step);
}

// --- Copies between host and device, and within the device.

bool is_on_device(const at::Tensor& tensor) { return tensor.device().type() == device_type; }

/// The CPU tensor that a copy node keeps: over device bytes, or over pinned memory, whose address
/// is recorded and whose contents are read at each replay (rule 36).
at::Tensor recorded_operand(Mirror& mirror, const at::Tensor& tensor) {
  if (is_on_device(tensor)) return mirror(tensor);
  void* data = tensor.storage().mutable_data();
  return over_storage(raw_storage(data, tensor.storage().nbytes()), cpu_keys, tensor);
}

bool is_plain_copy(const at::Tensor& to, const at::Tensor& from) {
  return to.scalar_type() == from.scalar_type() && to.sizes().equals(from.sizes()) &&
         to.strides().equals(from.strides()) && to.is_non_overlapping_and_dense() &&
         to.is_conj() == from.is_conj() && to.is_neg() == from.is_neg();
}

Node copy_node(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  Mirror mirror(Mirror::Contents::recorded);
  Node node(op, plan_of(op));
  const at::Tensor recorded_to = recorded_operand(mirror, to);
  const at::Tensor recorded_from = recorded_operand(mirror, from);
  static_cast<void>(recorded_from.expand_as(recorded_to));  // throws where a replay would
  node.arguments = {recorded_to, recorded_from, non_blocking};
  if (is_plain_copy(recorded_to, recorded_from)) node.copied_bytes = recorded_to.nbytes();
  add_use(node, to, false, true);
  add_use(node, from, true, false);
  return node;
}

/// Pinned memory is read or written when the copy runs. Pageable memory is staged: read at the
/// call, or written before it returns.
void enqueue_copy(Context& context, const at::Tensor& from, const at::Tensor& to,
                  bool non_blocking) {
  const auto pageable = [](const at::Tensor& tensor) {
    return !is_on_device(tensor) && !is_pinned(tensor.const_data_ptr());
  };
  const at::Tensor source = pageable(from) ? from.clone() : from;
  const auto node = std::make_shared<const Node>(copy_node(source, to, non_blocking));
  // The host's memory is kept for the copy; the device's is not, since streams order its reuse.
  const at::Tensor host = is_on_device(to) ? source : to;
  context.enqueue([node, keep = is_on_device(host) ? at::Tensor() : host] {
    Stack scratch;
    run_node(*node, scratch);
  });
  const bool within_device = is_on_device(from) && is_on_device(to);
  if (pageable(to) || (!within_device && !non_blocking)) {
    context.finish_stream(Context::current_stream_id());
  }
}

void copy_now(const at::Tensor& from, const at::Tensor& to) {
  Mirror mirror(Mirror::Contents::device);
  const at::Tensor cpu_to = is_on_device(to) ? mirror(to) : to;
  const at::Tensor cpu_from = is_on_device(from) ? mirror(from) : from;
  if (is_plain_copy(cpu_to, cpu_from)) {
    std::memmove(cpu_to.mutable_data_ptr(), cpu_from.const_data_ptr(), cpu_to.nbytes());
  } else {
    cpu_to.copy_(cpu_from);
  }
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (to.numel() == 0) return to;
  Context& context = Context::current();
  const auto guard = context.lock();
  CaptureState* capture = context.capture_for("memcpy");
  const KernelScope scope;
  if (capture == nullptr) {
    if (context.queue().defers()) {
      enqueue_copy(context, from, to, non_blocking);
    } else {
      copy_now(from, to);
    }
    return to;
  }
  if (!is_on_device(from)) check_host_copy(*capture, from, non_blocking);
  if (!is_on_device(to)) check_host_copy(*capture, to, non_blocking);
  append(*capture, copy_node(from, to, non_blocking));
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  resize_device_tensor(to, from.sizes());
  return copy_from(from, to, /*non_blocking=*/false);
}

/// Behind item(), bool(tensor) and the like: a copy, and a wait (rule 15).
at::Scalar local_scalar_dense(const at::Tensor& self) {
  Context& context = Context::current();
  const auto guard = context.lock();
  if (CaptureState* capture = context.capture_for("aten::_local_scalar_dense")) {
    fail(Error::capture_unsupported, "aten::_local_scalar_dense waits for the device", capture);
  }
  context.finish_stream(Context::current_stream_id());
  return at::native::_local_scalar_dense_cpu(Mirror(Mirror::Contents::device)(self));
}

/// The CPU serves convolution under another name than backends without kernels of their own do;
/// the schemas are the same.
void convolution(const c10::OperatorHandle& /*op*/, Stack* stack) {
  static const c10::OperatorHandle op =
      c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution", "");
  run_operator(op, stack);
}

constexpr const char* shadowed[] = {
#include "device/sim/shadowed.inc"
};

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
  m.impl("record_stream", record_stream);
  m.impl("view", view);
  m.impl("as_strided", as_strided);
  m.impl("_reshape_alias", reshape_alias);
  m.impl("unfold", unfold);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", local_scalar_dense);
  m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&convolution>());
  for (const char* name : shadowed) {
    m.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_operator>());
  }
  // Composed of other operators for unknown backends, but one fused kernel on CPU and CUDA.
  m.impl("scaled_dot_product_attention",
         torch::CppFunction::makeFromBoxedFunction<&run_operator>());
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_operator>());
}

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) { m.fallback(torch::CppFunction::makeFallthrough()); }

}  // namespace

std::vector<std::string> shadowed_operators() { return {std::begin(shadowed), std::end(shadowed)}; }

std::vector<std::string> find_shadowed_operators() {
  constexpr std::string_view prefix = "aten::";
  std::vector<std::string> found;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind(prefix, 0) != 0) continue;
    const auto op = dispatcher.findSchema(name);
    if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::CPU)) continue;
    if (!op->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd)) continue;
    found.push_back(name_of(*op).substr(prefix.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace thaw::sim
