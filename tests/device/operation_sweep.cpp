// SPDX-License-Identifier: Apache-2.0
#include "operation_sweep.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <fmt/format.h>

#include <cstring>

namespace thaw::test {
namespace {

constexpr uint64_t first_seed = 1, second_seed = 2;

template <class Tensors>
Tensors copied_to(c10::Device device, const Tensors& tensors) {
  Tensors copies = tensors;
  for (at::Tensor& tensor : copies) {
    tensor = tensor.to(device, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  }
  return copies;
}

bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes().equals(b.sizes()) &&
         a.strides().equals(b.strides()) && a.storage_offset() == b.storage_offset();
}

bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.nbytes() == y.nbytes() &&
         (x.nbytes() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0);
}

template <class Tensors>
std::string difference(const Tensors& expected, const Tensors& found, std::string_view what) {
  if (expected.size() != found.size()) return fmt::format("{}: another number of them", what);
  for (size_t index = 0; index < expected.size(); ++index) {
    if (!same_layout(expected[index], found[index])) {
      return fmt::format("{} {}: another dtype, size, stride or offset", what, index);
    }
    if (!same_bytes(expected[index], found[index])) {
      return fmt::format("{} {}: other bytes", what, index);
    }
  }
  return "";
}

/// An operation's results, and its arguments afterwards.
struct Run {
  Outputs results;
  Inputs arguments;
};

Run run(const Operation& operation, Inputs arguments) {
  Outputs results = operation.run(arguments);
  return {std::move(results), std::move(arguments)};
}

std::string difference(const Run& expected, const Run& found, std::string_view when) {
  std::string wrong = difference(expected.results, found.results, fmt::format("{}, result", when));
  if (!wrong.empty()) return wrong;
  return difference(expected.arguments, found.arguments, fmt::format("{}, argument", when));
}

std::string find_dead_memory(const Device& device, const Graph& graph) {
  for (const MemoryUse& use : graph.memory()) {
    if (device.state(use) != MemoryState::live) return "memory of the graph is not live";
  }
  return "";
}

/// The arguments with the geometry that they had first: an operation may have changed it.
Inputs with_geometry_of(const Inputs& first, const Inputs& arguments) {
  Inputs views = arguments;
  for (size_t index = 0; index < views.size(); ++index) {
    views[index] = views[index].as_strided(first[index].sizes(), first[index].strides(), 0);
  }
  return views;
}

void refill(const Inputs& arguments, const Inputs& contents) {
  Inputs views = with_geometry_of(contents, arguments);
  for (size_t index = 0; index < views.size(); ++index) views[index].copy_(contents[index]);
}

std::string compare_replays(Device& device, const Operation& operation,
                            const std::array<Inputs, 2>& inputs, const std::array<Run, 2>& expected,
                            std::set<std::string>* recorded) {
  Run captured{{}, copied_to(device.torch_device(), inputs[0])};
  const auto graph = device.capture([&] { captured.results = operation.run(captured.arguments); });
  std::string wrong = difference(inputs[0], with_geometry_of(inputs[0], captured.arguments),
                                 "after the capture, argument");
  if (wrong.empty()) wrong = find_dead_memory(device, *graph);
  if (recorded != nullptr) {
    for (const GraphNode& node : graph->nodes()) recorded->insert(node.operation);
  }
  const std::array<size_t, 3> order{1, 0, 1};
  for (size_t replay = 0; replay < order.size() && wrong.empty(); ++replay) {
    const size_t which = order[replay];
    refill(captured.arguments, inputs[which]);
    graph->replay();
    wrong = difference(expected[which], captured, fmt::format("replay {}", replay + 1));
  }
  return wrong;
}

}  // namespace

Inputs make_inputs(at::ScalarType type, uint64_t seed) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const double spread = at::isIntegralType(type, /*includeBool=*/false) ? 4 : 1;
  const auto drawn = [&](at::IntArrayRef sizes) {
    const at::Tensor normal = at::randn(sizes, generator);
    return type == at::kBool ? normal > 0 : (normal * spread).to(type);
  };
  const at::Tensor position = at::randint(16, {1}, generator, at::kLong);
  return {drawn({6, 6}),
          drawn({6, 6}),
          drawn({6}),
          drawn({3, 6}),
          at::randperm(6, generator, at::kLong).slice(0, 0, 3).clone(),
          at::randn({6, 6}, generator) > 0,
          drawn({1, 4, 1, 8}),
          drawn({1, 2, 16, 8}),
          drawn({1, 2, 16, 8}),
          (at::arange(16) <= position).view({1, 1, 1, 16}),
          position,
          at::arange(4, at::kFloat).neg().exp()};
}

bool cpu_has(const Operation& operation, at::ScalarType type) {
  try {
    run(operation, make_inputs(type, first_seed));
  } catch (const c10::NotImplementedError&) {
    return false;
  }
  return true;
}

std::string find_eager_difference(Device& device, const Operation& operation, at::ScalarType type) {
  const Inputs inputs = make_inputs(type, first_seed);
  const Run expected = run(operation, copied_to(c10::Device(c10::kCPU), inputs));
  return difference(expected, run(operation, copied_to(device.torch_device(), inputs)), "eagerly");
}

std::string find_difference(Device& device, const Operation& operation, at::ScalarType type,
                            std::set<std::string>* recorded) {
  const c10::Device cpu(c10::kCPU);
  const std::array<Inputs, 2> inputs{make_inputs(type, first_seed), make_inputs(type, second_seed)};
  try {
    const std::array<Run, 2> expected{run(operation, copied_to(cpu, inputs[0])),
                                      run(operation, copied_to(cpu, inputs[1]))};
    const Run eager = run(operation, copied_to(device.torch_device(), inputs[0]));
    const std::string wrong = difference(expected[0], eager, "eagerly");
    if (!wrong.empty()) return wrong;
    return compare_replays(device, operation, inputs, expected, recorded);
  } catch (const std::exception& error) {
    return fmt::format("threw {}", std::string_view(error.what()).substr(0, 300));
  }
}

}  // namespace thaw::test
