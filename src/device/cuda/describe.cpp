// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device/cuda/driver.h"
#include "device/cuda/errors.h"

namespace thaw::cuda {
namespace {

constexpr size_t word = sizeof(uint64_t);

uint64_t number_of(std::span<const std::byte> bytes) {
  uint64_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

/// Small numbers as people write them, of either sign; bit patterns otherwise.
std::string text_of(std::span<const std::byte> bytes) {
  const auto bits = static_cast<int>(8 * bytes.size());
  const uint64_t number = number_of(bytes);
  const auto sign = static_cast<int64_t>(number << (64 - bits)) >> (64 - bits);
  constexpr int64_t small = int64_t{1} << 31;
  if (sign > -small && sign < small) return fmt::format("{}", sign);
  return fmt::format("0x{:0{}x}", number, 2 * bytes.size());
}

Argument raw_argument(std::string name, std::span<const std::byte> bytes, const FindMemory& find) {
  Argument argument{.name = std::move(name),
                    .type = fmt::format("{} bytes", bytes.size()),
                    .text = text_of(bytes),
                    .memory = {}};
  if (bytes.size() != word) return argument;
  const uint64_t address = number_of(bytes);
  argument.memory = find(address);
  if (argument.memory) {
    argument.text = fmt::format("address, {} bytes into {} bytes",
                                address - argument.memory->address, argument.memory->bytes);
    argument.memory->read = argument.memory->written = true;  // a kernel may do either
  }
  return argument;
}

Argument number(std::string name, uint64_t value) {
  return {.name = std::move(name), .type = "int", .text = fmt::format("{}", value), .memory = {}};
}

Argument memory_argument(std::string name, const void* address, const FindMemory& find,
                         bool written) {
  Argument argument{.name = std::move(name), .type = "address", .text = "memory", .memory = {}};
  argument.memory = find(reinterpret_cast<uintptr_t>(address));
  if (!argument.memory) {
    argument.text = "unknown memory";
    return argument;
  }
  argument.memory->read = !written;
  argument.memory->written = written;
  argument.text = fmt::format("{} bytes into {} bytes",
                              reinterpret_cast<uintptr_t>(address) - argument.memory->address,
                              argument.memory->bytes);
  return argument;
}

void describe_kernel(cudaGraphNode_t node, const FindMemory& find, GraphNode& described) {
  const KernelLaunch launch = Driver::get().launch_of(node);
  described.operation = launch.kernel;
  const auto shape = [](const unsigned(&size)[3]) {
    return fmt::format("[{}, {}, {}]", size[0], size[1], size[2]);
  };
  described.arguments.push_back({"grid", "int[3]", shape(launch.grid), {}});
  described.arguments.push_back({"block", "int[3]", shape(launch.block), {}});
  described.arguments.push_back(number("shared bytes", launch.shared_bytes));
  for (size_t i = 0; i < launch.parameters.size(); ++i) {
    describe_parameter(i, launch.parameters[i], find, described.arguments);
  }
  if (!launch.parameters_unknown.empty()) {
    described.arguments.push_back(
        {"parameters", "unknown", "unknown: " + launch.parameters_unknown, {}});
  }
}

void describe_memcpy(cudaGraphNode_t node, const FindMemory& find, GraphNode& described) {
  cudaMemcpy3DParms copy{};
  check(cudaGraphMemcpyNodeGetParams(node, &copy), "cudaGraphMemcpyNodeGetParams");
  described.operation = "memcpy";
  described.arguments.push_back(memory_argument("to", copy.dstPtr.ptr, find, true));
  described.arguments.push_back(memory_argument("from", copy.srcPtr.ptr, find, false));
  const size_t rows = std::max<size_t>(copy.extent.height, 1);
  const size_t planes = std::max<size_t>(copy.extent.depth, 1);
  described.arguments.push_back(number("bytes", copy.extent.width * rows * planes));
}

void describe_memset(cudaGraphNode_t node, const FindMemory& find, GraphNode& described) {
  cudaMemsetParams fill{};
  check(cudaGraphMemsetNodeGetParams(node, &fill), "cudaGraphMemsetNodeGetParams");
  described.operation = "memset";
  described.arguments.push_back(memory_argument("to", fill.dst, find, true));
  described.arguments.push_back(number("value", fill.value));
  described.arguments.push_back(number("element bytes", fill.elementSize));
  described.arguments.push_back(
      number("bytes", fill.width * fill.elementSize * std::max<size_t>(fill.height, 1)));
}

std::string name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeGraph:
      return "child graph";
    case cudaGraphNodeTypeEmpty:
      return "empty";
    case cudaGraphNodeTypeWaitEvent:
      return "wait for event";
    case cudaGraphNodeTypeEventRecord:
      return "record event";
    case cudaGraphNodeTypeMemAlloc:
      return "allocate";
    case cudaGraphNodeTypeMemFree:
      return "free";
    case cudaGraphNodeTypeConditional:
      return "conditional";
    default:
      return fmt::format("node of type {}", static_cast<int>(type));
  }
}

cudaError_t dependencies(cudaGraphNode_t node, cudaGraphNode_t* before, size_t* count) {
#if CUDART_VERSION >= 13000
  // Edge data must be asked for: without, an edge that carries some is an error (402).
  std::vector<cudaGraphEdgeData> edges(before == nullptr ? 0 : *count);
  return cudaGraphNodeGetDependencies(node, before, before == nullptr ? nullptr : edges.data(),
                                      count);
#else
  return cudaGraphNodeGetDependencies(node, before, count);
#endif
}

std::vector<cudaGraphNode_t> nodes_before(cudaGraphNode_t node) {
  size_t count = 0;
  check(dependencies(node, nullptr, &count), "cudaGraphNodeGetDependencies");
  std::vector<cudaGraphNode_t> before(count);
  if (count > 0) check(dependencies(node, before.data(), &count), "cudaGraphNodeGetDependencies");
  return before;
}

GraphNode describe_node(cudaGraphNode_t node, const FindMemory& find) {
  GraphNode described;
  cudaGraphNodeType type{};
  check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
  if (type == cudaGraphNodeTypeKernel) {
    describe_kernel(node, find, described);
  } else if (type == cudaGraphNodeTypeMemcpy) {
    describe_memcpy(node, find, described);
  } else if (type == cudaGraphNodeTypeMemset) {
    describe_memset(node, find, described);
  } else {
    described.operation = name_of(type);
  }
  return described;
}

}  // namespace

void describe_parameter(size_t index, std::span<const std::byte> bytes, const FindMemory& find,
                        std::vector<Argument>& arguments) {
  if (bytes.size() <= word) {
    arguments.push_back(raw_argument(fmt::format("parameter {}", index), bytes, find));
    return;
  }
  for (size_t from = 0; from < bytes.size(); from += word) {
    const auto part = bytes.subspan(from, std::min(word, bytes.size() - from));
    arguments.push_back(raw_argument(
        fmt::format("parameter {}, bytes {} to {}", index, from, from + part.size() - 1), part,
        find));
  }
}

std::vector<GraphNode> describe(cudaGraph_t graph, const FindMemory& find) {
  size_t count = 0;
  check(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) check(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
  std::vector<GraphNode> described;
  described.reserve(count);
  for (const cudaGraphNode_t node : nodes) {
    described.push_back(describe_node(node, find));
    for (const cudaGraphNode_t before : nodes_before(node)) {
      const auto found = std::find(nodes.begin(), nodes.end(), before);
      described.back().after.push_back(static_cast<size_t>(found - nodes.begin()));
    }
  }
  return described;
}

}  // namespace thaw::cuda
