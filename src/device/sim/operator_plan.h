// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string>
#include <vector>

namespace thaw::sim {

/// What the schema of an operator tells about recording and running it.
struct OperatorPlan {
  /// What becomes of a 0-dim host tensor as an argument, as on CUDA (rule 34).
  enum class HostScalar {
    refused,    ///< for being on another device
    parameter,  ///< its value goes with the launch
    copied      ///< to the device first, which waits
  };
  struct Argument {
    bool written = false;
    HostScalar host_scalar = HostScalar::refused;
    bool output = false;  ///< an `out=` argument: written without being read, resized if need be
  };
  std::vector<Argument> arguments;
  /// For each result the argument that it is, as in `add_(Tensor(a!) self) -> Tensor(a!)`.
  std::vector<std::optional<size_t>> returned_argument;
  std::vector<size_t> outputs;  ///< positions of the `out=` arguments
  bool writes_argument = false;
  /// On CUDA the host waits for the device: the result is a host value, or its shape depends on
  /// device memory (rule 21).
  bool synchronizes = false;
  std::optional<size_t> generator_argument;
  bool draws_uniform = false;  ///< is uniform_, whose numbers are CUDA's
  /// Draws random numbers without taking a generator, unless the probability in this argument is 0.
  bool draws_from_default_generator = false;
  std::optional<size_t> dropout_argument;
  std::optional<size_t> output_size_argument;  ///< given, it spares repeat_interleave the wait
  /// Of index_put_: where its indices are; the value follows. Masks among them wait.
  std::optional<size_t> put_indices_argument;
};

const OperatorPlan& plan_of(const c10::OperatorHandle& op);

/// "aten::add_.Tensor"
std::string name_of(const c10::OperatorHandle& op);

}  // namespace thaw::sim
