// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "operation_table.h"

namespace thaw::test {
namespace {

using at::indexing::Slice;

/// Symmetric quantisation to int8, row by row, and back.
Outputs quantised(const at::Tensor& a) {
  const at::Tensor x = a.to(at::kFloat);
  const at::Tensor scale = x.abs().amax(-1, true) / 127;
  const at::Tensor bytes = (x / scale).round().clamp(-128, 127).to(at::kChar);
  return {bytes, scale, bytes.to(at::kFloat) * scale};
}

/// One scale for the tensor, as caches in fp8 have it.
Outputs quantised_to_fp8(const at::Tensor& a) {
  const at::Tensor x = a.to(at::kFloat);
  const at::Tensor scale = (x.abs().amax() / 448.0).clamp_min(1e-12);
  const at::Tensor small = (x / scale).to(at::kFloat8_e4m3fn);
  return {small, scale, small.to(at::kFloat) * scale};
}

at::Tensor bytes_of(const at::Tensor& tensor) { return tensor.view(at::kByte); }

}  // namespace

std::vector<Operation> integer_operations() {
  return {
      OP(a + b),
      OP(a - b),
      OP(a * b),
      OP(a * 2),
      OP(-a),
      OP(a.abs()),
      OP(a / (b.abs() + 1)),
      OP(a.floor_divide(3)),
      OP(a.floor_divide(b.abs() + 1)),
      OP(a.remainder(5)),
      OP(a.bitwise_and(b)),
      OP(a.bitwise_or(b)),
      OP(a.bitwise_xor(b)),
      OP(a.bitwise_not()),
      OP(a.bitwise_left_shift(1)),
      OP(a.clamp(-2, 2)),
      OP(a.maximum(b)),
      OP(a > b),
      OP(a.eq(b)),
      OP(at::where(m, a, b)),
      OP(a.masked_fill(m, -1)),
      OP(a.sum()),
      OP(a.amax(0)),
      OP(a.max(1)),
      OP(a.argmax(-1)),
      OP(a.cumsum(0)),
      OP(a.sort(1)),
      OP(a.topk(2)),
      OP(a.index_select(0, i)),
      OP(a.gather(0, i.unsqueeze(1).expand({3, 6}))),
      OP(a.index({i})),
      OP(a.index_copy_(0, i, c)),
      OP(a.index_put_({i}, c)),
      OP(a.index_add_(0, i, c)),
      OP(a.scatter_(0, i.unsqueeze(1).expand({3, 6}), c)),
      OP(a.add_(1)),
      OP(a.mul_(b)),
      OP(a.fill_(7)),
      OP(a.zero_()),
      OP(a.copy_(b.t())),
      OP(at::cat({a, c})),
      OP(at::full({3}, 5, a.options())),
      OP(at::arange(6, a.options()) + a),
      OP(a.to(at::kFloat) * 0.5),
      OP(a.t().contiguous()),
      OP(quantised(a)),
  };
}

std::vector<Operation> bool_operations() {
  return {
      OP(a.logical_and(b)),
      OP(a.logical_or(b)),
      OP(a.logical_xor(b)),
      OP(a.logical_not()),
      OP(a.bitwise_and(b)),
      OP(a | b),
      OP(a.eq(b)),
      OP(a.any()),
      OP(a.all(1)),
      OP(a.sum()),
      OP(a.cumsum(1)),
      OP(at::where(m, a, b)),
      OP(a.masked_fill(m, true)),
      OP(a.index_select(0, i)),
      OP(a.index_copy_(0, i, c)),
      OP(a.index_put_({i}, c)),
      OP(a.scatter_(0, i.unsqueeze(1).expand({3, 6}), c)),
      OP(a.fill_(true)),
      OP(a.zero_()),
      OP(a.copy_(b.t())),
      OP(a.logical_and_(b)),
      OP(at::cat({a, c})),
      OP(at::stack({a, b})),
      OP(a.to(at::kFloat)),
      OP(a.flip(0)),
      OP(a.tril()),
  };
}

std::vector<Operation> fp8_operations() {
  return {
      OP(a.to(at::kFloat)),
      OP(a.to(at::kHalf)),
      OP(a.to(at::kBFloat16)),
      OP(a.clone()),
      OP(a.t().contiguous()),
      OP(at::zeros({6, 6}, a.options())),
      OP(bytes_of(a) + 0),
      OP(a.copy_(b)),
      OP(a.copy_(b.to(at::kFloat))),
      OP(a.narrow(0, 1, 3).copy_(c)),
      OP(a.select(0, 2).copy_(w.to(at::kFloat))),
      OP(a.zero_()),
      OP(a.fill_(2)),
      OP(at::cat({a, c})),
      OP(at::stack({a, b})),
      OP(a.index_select(0, i)),
      OP(a.index({i})),
      OP(a.index_put_({i}, c)),
      OP(at::where(m, a, b)),
      OP(a.eq(b)),
      OP(a.expand({2, 6, 6}).contiguous()),
      OP(bytes_of(a).index_copy_(0, i, bytes_of(c))),
      OP(bytes_of(a).scatter_(0, i.unsqueeze(1).expand({3, 6}), bytes_of(c))),
      OP(bytes_of(k).index_copy_(2, position, bytes_of(q).narrow(1, 0, 2))),
      OP(quantised_to_fp8(a)),
  };
}

}  // namespace thaw::test
