// SPDX-License-Identifier: Apache-2.0
#include "kernels/operators.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <optional>

TORCH_LIBRARY(thaw, library) {
  library.def(
      "append_(Tensor(a!) keys, Tensor(b!) values, Tensor new_keys, Tensor new_values, "
      "Tensor rows, Tensor positions) -> ()");
  library.def(
      "count_refused_(Tensor(a!) refused, Tensor rows, Tensor positions, int q_len, int slots) "
      "-> ()");
  library.def(
      "tag_(Tensor(a!) new_keys, Tensor(b!) new_values, Tensor rows, Tensor positions, "
      "Tensor generation, int layer) -> ()");
  library.def(
      "visible_sum_(Tensor(a!) out, Tensor keys, Tensor values, Tensor? block_table, Tensor rows, "
      "Tensor positions, int window, bool ring) -> ()");
}

namespace thaw::ops {
namespace {

using at::Tensor;

/// Looked up once: finding an operator by name costs more than a small kernel.
template <class Signature>
c10::TypedOperatorHandle<Signature> find(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace

void append_(const Tensor& keys, const Tensor& values, const Tensor& new_keys,
             const Tensor& new_values, const Tensor& rows, const Tensor& positions) {
  static const auto op = find<void(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                   const Tensor&, const Tensor&)>("thaw::append_");
  op.call(keys, values, new_keys, new_values, rows, positions);
}

void count_refused_(const Tensor& refused, const Tensor& rows, const Tensor& positions,
                    int64_t q_len, int64_t slots) {
  static const auto op = find<void(const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t)>(
      "thaw::count_refused_");
  op.call(refused, rows, positions, q_len, slots);
}

void tag_(const Tensor& new_keys, const Tensor& new_values, const Tensor& rows,
          const Tensor& positions, const Tensor& generation, int64_t layer) {
  static const auto op = find<void(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                   const Tensor&, int64_t)>("thaw::tag_");
  op.call(new_keys, new_values, rows, positions, generation, layer);
}

void visible_sum_(const Tensor& out, const Tensor& keys, const Tensor& values,
                  const Tensor& block_table, const Tensor& rows, const Tensor& positions,
                  int64_t window, bool ring) {
  static const auto op =
      find<void(const Tensor&, const Tensor&, const Tensor&, const std::optional<Tensor>&,
                const Tensor&, const Tensor&, int64_t, bool)>("thaw::visible_sum_");
  const auto table = block_table.defined() ? std::make_optional(block_table) : std::nullopt;
  op.call(out, keys, values, table, rows, positions, window, ring);
}

}  // namespace thaw::ops
