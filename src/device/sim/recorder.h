// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <optional>

#include "device/sim/node.h"

namespace thaw::sim {

/// What every operator without a native implementation does on the simulated device. Outside a
/// capture its CPU kernel runs on the device's bytes. In a capture (rule 1) it is tried out on
/// private copies that hold zeros or ones, which finds wrong arguments and the shapes of results,
/// and recorded; results get memory of the graph's pool.
/// Throws DeviceError: 900 in a capture where the host would have to wait (rule 21), 710 where the
/// kernel fails because of what device memory holds, 801 where LibTorch has no CPU kernel.
void run_operator(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Runs a recorded node on the present contents of memory.
void run_node(const Node& node, torch::jit::Stack& scratch);

/// Rules 37 and 38: a copy between the device and pageable memory throws c10::Error in a capture,
/// one that waits fails it with 900.
void check_host_copy(CaptureState& capture, const at::Tensor& host, bool non_blocking);

/// Notes that a node touches a device or pinned tensor's memory.
void add_use(Node& node, const at::Tensor& tensor, bool read, bool written);

/// Gives a device tensor another size, and more memory if it needs it.
void resize_device_tensor(const at::Tensor& tensor, at::IntArrayRef size);

/// Dispatch below it stays among CPU kernels: neither autograd nor autocast interferes.
class KernelScope {
 private:
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                            c10::autocast_dispatch_keyset};
};

}  // namespace thaw::sim
