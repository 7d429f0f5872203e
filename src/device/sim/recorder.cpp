// SPDX-License-Identifier: Apache-2.0
#include "device/sim/recorder.h"

#include <ATen/EmptyTensor.h>
#include <fmt/format.h>

#include <cstring>
#include <span>

#include "device/sim/allocator.h"
#include "device/sim/call_stack.h"
#include "device/sim/context.h"
#include "device/sim/mirror.h"
#include "device/sim/operator_plan.h"
#include "device/sim/random.h"

namespace thaw::sim {

namespace {

using torch::jit::Stack;

/// One call, its arguments where the dispatcher put them.
struct Call {
  const c10::OperatorHandle& op;
  const OperatorPlan& plan;
  std::span<const c10::IValue> arguments;
};

/// Whether a call draws random numbers; an attention without dropout does not.
bool draws(const OperatorPlan& plan, std::span<const c10::IValue> arguments) {
  if (plan.generator_argument) return true;
  if (!plan.draws_from_default_generator) return false;
  return !plan.dropout_argument || arguments[*plan.dropout_argument].toDouble() > 0;
}

/// Runs the CPU kernel on arguments that were translated for it. `state` is what it draws from, if
/// it draws.
void run_cpu_kernel(const c10::OperatorHandle& op, const OperatorPlan& plan, Stack& stack,
                    const GeneratorState& state) {
  if (C10_LIKELY(!draws(plan, stack))) {
    op.redispatchBoxed(cpu_keys, &stack);
    return;
  }
  const at::Generator generator = cpu_generator(state);
  if (!plan.generator_argument) {
    const DefaultGeneratorScope scope(generator);
    op.redispatchBoxed(cpu_keys, &stack);
    return;
  }
  stack[*plan.generator_argument] = generator;
  const auto bounds =
      plan.draws_uniform ? std::optional(std::pair(stack[1], stack[2])) : std::nullopt;
  op.redispatchBoxed(cpu_keys, &stack);
  if (bounds) {
    draw_uniform(stack[0].toTensor(), bounds->first.toDouble(), bounds->second.toDouble(), state);
  }
}

struct Indices {
  size_t defined = 0, masks = 0;
};

Indices masks_in(const c10::IValue& indices) {
  Indices found;
  for (const c10::IValue& index : indices.toListRef()) {
    if (!index.isTensor() || !index.toTensor().defined()) continue;
    const at::ScalarType type = index.toTensor().scalar_type();
    ++found.defined;
    if (type == at::kBool || type == at::kByte) ++found.masks;
  }
  return found;
}

/// Whether a call of index_put_ has one mask as its only index and a host scalar as value: then it
/// is a fill, which does not wait for the number of the mask's true elements and copies nothing.
bool fills_mask(const Call& call) {
  if (!call.plan.put_indices_argument) return false;
  const size_t position = *call.plan.put_indices_argument;
  const Indices indices = masks_in(call.arguments[position]);
  const at::Tensor& value = call.arguments[position + 1].toTensor();
  return indices.defined == 1 && indices.masks == 1 && value.is_cpu() && value.numel() == 1;
}

/// A host tensor in a call. `capture` is the one that records the call, or null.
at::Tensor translate_host_tensor(const Call& call, size_t argument, const at::Tensor& tensor,
                                 CaptureState* capture) {
  using HostScalar = OperatorPlan::HostScalar;
  const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  const HostScalar as = wrapped ? HostScalar::parameter : call.plan.arguments[argument].host_scalar;
  TORCH_CHECK(tensor.dim() == 0 && as != HostScalar::refused,
              "Expected all tensors to be on the same device, but found at least two devices, "
              "sim:0 and ",
              tensor.device(), "! (", name_of(call.op), ")");
  if (capture == nullptr) return tensor;
  if (as == HostScalar::copied && !fills_mask(call) && !capture->single_call)
    check_host_copy(*capture, tensor, /*non_blocking=*/false);
  at::Tensor kept = tensor.clone();
  kept.unsafeGetTensorImpl()->set_wrapped_number(wrapped);
  return kept;
}

/// The generator that a call which draws was given, or the device's.
at::Generator generator_of(const Call& call) {
  if (call.plan.generator_argument) {
    const c10::IValue& given = call.arguments[*call.plan.generator_argument];
    if (!given.isNone()) return given.toGenerator();
  }
  return Context::current().generator();
}

/// How far a call moves its generator, by the largest tensor among its arguments and results.
uint64_t increment_of(const Stack& arguments, const Stack& results) {
  uint64_t increment = 0;
  const auto count = [&](const at::Tensor& tensor) {
    increment = std::max(increment, offset_increment(tensor.numel(), tensor.scalar_type()));
    return tensor;
  };
  for (const Stack* stack : {&arguments, &results}) {
    for (c10::IValue value : *stack) replace_tensors(value, count);
  }
  return increment;
}

/// The arguments for the CPU kernel. A call that a capture records keeps host scalars' contents
/// (rule 33).
Stack translate(const Call& call, Mirror& mirror, CaptureState* capture = nullptr) {
  Stack translated;
  translated.reserve(call.arguments.size() + 1);
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const auto translate_tensor = [&](const at::Tensor& tensor) {
      if (tensor.device().type() == device_type) return mirror(tensor);
      return translate_host_tensor(call, i, tensor, capture);
    };
    const c10::IValue& value = call.arguments[i];
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      translated.emplace_back(tensor.defined() ? translate_tensor(tensor) : tensor);
    } else if (C10_UNLIKELY(i == call.plan.generator_argument)) {
      translated.emplace_back(generator_of(call));
    } else if (C10_UNLIKELY(value.isDevice() && value.toDevice().type() == device_type)) {
      translated.emplace_back(c10::Device(c10::kCPU));
    } else {
      translated.push_back(value);
      replace_tensors(translated.back(), translate_tensor);
    }
  }
  return translated;
}

/// The first line of a LibTorch message, which may go on for pages.
std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, std::min(text.find('\n'), size_t{300}));
}

DeviceError device_failure(const c10::OperatorHandle& op, const c10::Error& error) {
  return device_error(Error::device_assert, fmt::format("{}: {}", name_of(op), first_line(error)));
}

[[noreturn]] void refuse_missing_kernel(const c10::OperatorHandle& op, const c10::Error& error) {
  Context::current().refuse(
      fmt::format("{}: LibTorch's CPU kernel lacks it: {}", name_of(op), first_line(error)));
}

at::Tensor device_tensor_like(const at::Tensor& cpu) {
  at::Tensor tensor = at::detail::empty_strided_generic(
      cpu.sizes(), cpu.strides(), &device_allocator(), device_keys, cpu.scalar_type());
  if (C10_UNLIKELY(cpu.is_conj())) tensor._set_conj(true);
  if (C10_UNLIKELY(cpu.is_neg())) tensor._set_neg(true);
  return tensor;
}

void forget_mirrors(const at::Tensor& tensor) {
  if (Block* block = block_of(tensor)) block->mirrors.clear();
}

/// After a kernel that failed: it may have changed the CPU tensors that it was given.
void forget_mirrors(const Call& call) {
  for (c10::IValue value : call.arguments) {
    replace_tensors(value, [](const at::Tensor& tensor) {
      forget_mirrors(tensor);
      return tensor;
    });
  }
}

/// Between CPU tensors of the same geometry.
void copy_contents(const at::Tensor& to, const at::Tensor& from) {
  if (to.const_data_ptr() == from.const_data_ptr()) return;
  if (from.is_non_overlapping_and_dense()) {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
  } else {
    to.copy_(from);
  }
}

/// The CPU tensors of a call's `out=` arguments. Kernels resize them, and device tensors follow.
class Outputs {
 public:
  Outputs(const Call& call, const Stack& translated) : call_(call) {
    for (const size_t output : call.plan.outputs) computed_.push_back(translated[output]);
  }

  /// Contents follow if the kernel really ran.
  void follow_resized(bool with_contents) const {
    for (size_t i = 0; i < computed_.size(); ++i) {
      const c10::IValue& value = call_.arguments[call_.plan.outputs[i]];
      if (value.isTensor() && value.toTensor().defined()) {
        follow(value.toTensor(), computed_[i].toTensor(), with_contents);
      }
    }
  }

 private:
  static void follow(const at::Tensor& tensor, const at::Tensor& computed, bool with_contents) {
    if (tensor.sizes().equals(computed.sizes())) return;
    forget_mirrors(tensor);  // the kernel changed one
    resize_device_tensor(tensor, computed.sizes());
    if (with_contents) copy_contents(Mirror(Mirror::Contents::device)(tensor), computed);
  }

  const Call& call_;
  c10::SmallVector<c10::IValue, 2> computed_;
};

/// A run of the call on private copies.
struct Trial {
  Trial(const Call& call, Mirror::Contents contents)
      : mirror(contents), results(translate(call, mirror)), outputs(call, results) {
    run_cpu_kernel(call.op, call.plan, results, {});
  }

  Mirror mirror;
  Stack results;
  Outputs outputs;
};

/// A kernel that cannot take zeros (as a divisor, for instance) gets ones.
Trial try_out(const Call& call) {
  try {
    return Trial(call, Mirror::Contents::zeros);
  } catch (const c10::NotImplementedError&) {
    throw;
  } catch (const c10::Error&) {
    return Trial(call, Mirror::Contents::ones);
  }
}

Trial try_out_or_refuse(const Call& call) {
  try {
    return try_out(call);
  } catch (const c10::NotImplementedError& error) {
    refuse_missing_kernel(call.op, error);
  }
}

/// A call that fails in a trial as well has wrong arguments, and throws what the trial throws.
/// Otherwise the failure comes from what device memory holds, and a device would report it.
[[noreturn]] void throw_failure(const Call& call, const c10::Error& error) {
  forget_mirrors(call);
  try_out_or_refuse(call);
  Context::current().fail_device(device_failure(call.op, error));
}

/// Calls `visit` for each tensor of the results that is not one of the arguments, and puts what it
/// returns in its place.
template <class Visit>
void replace_new_results(const OperatorPlan& plan, Stack& results, Visit&& visit) {
  for (size_t i = 0; i < plan.returned_argument.size(); ++i) {
    if (!plan.returned_argument[i]) replace_tensors(results[i], visit);
  }
}

/// Replaces the arguments on the dispatcher's stack by the results.
void push_results(const Call& call, Stack& results, Stack* stack) {
  for (size_t i = 0; i < call.plan.returned_argument.size(); ++i) {
    if (const auto argument = call.plan.returned_argument[i]) {
      results[i] = call.arguments[*argument];
    }
  }
  torch::jit::drop(stack, call.arguments.size());
  stack->insert(stack->end(), std::make_move_iterator(results.begin()),
                std::make_move_iterator(results.end()));
}

void run_now(const Call& call, Stack* stack) {
  Mirror mirror(Mirror::Contents::device);
  Stack results = translate(call, mirror);
  const Outputs outputs(call, results);
  PhiloxGenerator* generator =
      draws(call.plan, call.arguments) ? &philox(generator_of(call)) : nullptr;
  const Stack arguments = generator != nullptr ? results : Stack();
  try {
    run_cpu_kernel(call.op, call.plan, results,
                   generator != nullptr ? generator->state() : GeneratorState());
  } catch (const c10::Error& error) {
    throw_failure(call, error);
  }
  if (C10_UNLIKELY(generator != nullptr)) generator->take(increment_of(arguments, results));
  outputs.follow_resized(true);
  replace_new_results(call.plan, results, [&](const at::Tensor& result) {
    if (auto* storage = mirror.storage_behind(result)) return device_view(*storage, result);
    const at::Tensor tensor = device_tensor_like(result);
    copy_contents(Mirror(Mirror::Contents::device)(tensor), result);
    return tensor;
  });
  push_results(call, results, stack);
}

void add_argument_uses(const Call& call, Node& node) {
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const OperatorPlan::Argument& argument = call.plan.arguments[i];
    c10::IValue value = call.arguments[i];
    replace_tensors(value, [&](const at::Tensor& tensor) {
      if (tensor.device().type() == device_type) {
        add_use(node, tensor, !argument.output, argument.written);
      }
      return tensor;
    });
  }
}

bool waits(const Call& call) {
  const OperatorPlan& plan = call.plan;
  if (plan.put_indices_argument) {
    const size_t indices = *plan.put_indices_argument;
    return masks_in(call.arguments[indices]).masks > 0 && !fills_mask(call);
  }
  if (!plan.synchronizes) return false;
  return !plan.output_size_argument || call.arguments[*plan.output_size_argument].isNone();
}

/// What the capture has drawn from a generator so far.
GraphDraws& draws_of(CaptureState& capture, const at::Generator& generator) {
  for (GraphDraws& known : capture.draws) {
    if (known.generator == generator) return known;
  }
  static_cast<void>(philox(generator));  // throws for another kind
  return capture.draws.emplace_back(GraphDraws{generator, 0, {}});
}

/// The node of a call that was tried out, whose results replace the arguments on the stack. Nothing
/// if running it would have no effect.
std::optional<Node> make_node(CaptureState& capture, const Call& call, Trial& trial, Stack* stack) {
  trial.outputs.follow_resized(false);
  Mirror mirror(Mirror::Contents::recorded);
  Node node(call.op, call.plan);
  node.arguments = translate(call, mirror, &capture);
  if (draws(call.plan, call.arguments)) {
    GraphDraws& drawn = draws_of(capture, generator_of(call));
    node.draws = &drawn;
    node.first_draw = drawn.count;
    drawn.count += increment_of(node.arguments, trial.results);
  }
  add_argument_uses(call, node);
  bool has_effect = call.plan.writes_argument || call.plan.returned_argument.empty();
  replace_new_results(call.plan, trial.results, [&](const at::Tensor& result) {
    if (auto* storage = trial.mirror.storage_behind(result)) {
      node.outputs.emplace_back();
      return device_view(*storage, result);
    }
    const at::Tensor tensor = device_tensor_like(result);
    node.outputs.push_back(mirror(tensor));
    add_use(node, tensor, false, true);
    has_effect = true;
    return tensor;
  });
  push_results(call, trial.results, stack);
  if (!has_effect) return std::nullopt;
  return node;
}

void record(CaptureState& capture, const Call& call, Stack* stack) {
  if (waits(call)) {
    fail(Error::capture_unsupported, name_of(call.op) + " waits for the device", &capture);
  }
  Trial trial = try_out_or_refuse(call);
  if (auto node = make_node(capture, call, trial, stack)) append(capture, std::move(*node));
}

/// Leaves a call outside captures to the queue: recorded like one in a capture, but for what it
/// draws, which is settled now. A call that cannot be tried out without the contents of memory, or
/// whose result the host needs, waits and then runs.
void enqueue(Context& context, const Call& call, Stack* stack) {
  try {
    if (!waits(call)) {
      Trial trial = try_out(call);
      const auto single = std::make_shared<CaptureState>();
      single->single_call = true;
      std::optional<Node> node = make_node(*single, call, trial, stack);
      for (GraphDraws& draws : single->draws) {
        draws.start = philox(draws.generator).take(draws.count);
      }
      if (!node) return;
      single->nodes.push_back(std::move(*node));
      context.enqueue([single] {
        Stack scratch;
        run_node(single->nodes.front(), scratch);
      });
      return;
    }
  } catch (const c10::Error&) {  // wrong arguments throw again below
  }
  context.finish_stream(Context::current_stream_id());
  run_now(call, stack);
}

/// Where a node's draws begin in the present replay (rule 55).
GeneratorState state_of(const Node& node) {
  if (node.draws == nullptr) return {};
  const GeneratorState& start = node.draws->start;
  return {start.seed, start.offset + node.first_draw};
}

}  // namespace

void append(CaptureState& capture, Node node) {
  if (capture.note_call_stacks) node.recorded_by = call_stack();
  StreamState& stream = Context::current().current_stream();
  node.after = stream.frontier;
  node.forked = Context::current_stream_id() != capture.origin;
  capture.nodes.push_back(std::move(node));
  stream.frontier.assign(1, capture.nodes.size() - 1);
}

void check_host_copy(CaptureState& capture, const at::Tensor& host, bool non_blocking) {
  TORCH_CHECK(is_pinned(host.const_data_ptr()),
              "Cannot copy between CPU and sim tensors during graph capture unless the CPU tensor "
              "is pinned.");
  if (!non_blocking) fail(Error::capture_unsupported, "blocking memcpy", &capture);
}

void add_use(Node& node, const at::Tensor& tensor, bool read, bool written) {
  const Block* block = block_of(tensor);
  if (block == nullptr) return;
  for (Use& use : node.uses) {
    if (use.block != block || use.generation != block->generation) continue;
    use.read |= read;
    use.written |= written;
    return;
  }
  node.uses.push_back({block, block->generation, tensor.storage().nbytes(), read, written});
}

void resize_device_tensor(const at::Tensor& tensor, at::IntArrayRef size) {
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  c10::StorageImpl& storage = *tensor.storage().unsafeGetStorageImpl();
  const size_t bytes = at::detail::computeStorageNbytesContiguous(
      size, tensor.dtype().itemsize(), static_cast<size_t>(tensor.storage_offset()));
  if (bytes > storage.nbytes()) resize_storage(storage, bytes);
  impl->set_sizes_contiguous(size);
}

void run_operator(const c10::OperatorHandle& op, Stack* stack) {
  const OperatorPlan& plan = plan_of(op);
  const size_t count = plan.arguments.size();
  const Call call{op, plan, {stack->data() + (stack->size() - count), count}};
  Context& context = Context::current();
  const auto guard = context.lock();
  CaptureState* capture = context.capture_for("kernel launch");
  context.load(op);
  const KernelScope scope;
  if (capture == nullptr && !context.queue().defers()) {
    run_now(call, stack);
  } else if (capture == nullptr) {
    enqueue(context, call, stack);
  } else {
    record(*capture, call, stack);
  }
}

void run_node(const Node& node, Stack& scratch) {
  if (C10_UNLIKELY(node.host_function != nullptr)) {
    const HostFunctionScope scope;
    node.host_function();
    return;
  }
  if (node.copied_bytes > 0) {
    std::memmove(node.arguments[0].toTensor().mutable_data_ptr(),
                 node.arguments[1].toTensor().const_data_ptr(), node.copied_bytes);
    return;
  }
  scratch.assign(node.arguments.begin(), node.arguments.end());
  try {
    run_cpu_kernel(node.op, *node.plan, scratch, state_of(node));
  } catch (const c10::Error& error) {
    throw device_failure(node.op, error);
  }
  if (node.outputs.empty()) return;
  auto output = node.outputs.begin();
  replace_new_results(*node.plan, scratch, [&](const at::Tensor& result) {
    if (output->defined()) copy_contents(*output, result);
    ++output;
    return result;
  });
  scratch.clear();
}

}  // namespace thaw::sim
