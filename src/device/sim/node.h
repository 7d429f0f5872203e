// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "device/sim/context.h"
#include "device/sim/operator_plan.h"

namespace thaw::sim {

/// Memory that a node touches: the block, and its generation when the node was recorded.
struct Use {
  const Block* block = nullptr;
  uint64_t generation = 0;
  size_t bytes = 0;  ///< of the tensor's storage
  bool read = false;
  bool written = false;
};

/// What a graph draws from one generator. Its nodes know how far into the graph's draws theirs
/// begin; each replay sets where all of them start, and moves the generator past them (rules 55 and
/// 56).
struct GraphDraws {
  at::Generator generator;
  uint64_t count = 0;  ///< how far one replay moves the offset
  GeneratorState start;
};

/// One recorded operation. Its arguments are what a kernel gets: host values (a 0-dim host tensor
/// is one), and CPU tensors that own nothing and lie over the device's bytes at fixed addresses
/// (rules 33 and 35).
struct Node {
  Node(const c10::OperatorHandle& op, const OperatorPlan& plan) : op(op), plan(&plan) {}

  c10::OperatorHandle op;
  const OperatorPlan* plan;
  torch::jit::Stack arguments;
  std::vector<at::Tensor> outputs;  ///< where new results go; undefined for views of arguments
  std::vector<size_t> after;        ///< nodes that must have run
  c10::SmallVector<Use, 6> uses;
  std::function<void()> host_function;   ///< called instead of a kernel
  const GraphDraws* draws = nullptr;     ///< of the capture or graph that the node is in
  uint64_t first_draw = 0;               ///< from draws->start on
  std::vector<std::string> recorded_by;  ///< see GraphNode
  bool forked = false;      ///< recorded on another stream than the one where the capture began
  size_t copied_bytes = 0;  ///< of a plain copy from the second argument to the first, else 0
};

/// What a capture has recorded so far.
struct CaptureState {
  uint64_t pool = 0;
  int64_t origin = 0;  ///< the stream where it began
  CaptureMode mode = CaptureMode::global;
  std::thread::id thread;
  std::atomic<bool> invalid = false;  ///< other devices of the process may invalidate it
  bool ended = false;
  bool single_call = false;       ///< no capture: holds one call until the queue runs it
  bool note_call_stacks = false;  ///< with every node
  std::vector<Node> nodes;
  std::deque<GraphDraws> draws;  ///< nodes point to them
};

/// Appends a node to the current stream's capture.
void append(CaptureState& capture, Node node);

}  // namespace thaw::sim
