// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcdiv.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/glu.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/hardtanh.h>
#include <ATen/ops/heaviside.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rsub.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/threshold.h>
#include <ATen/ops/where.h>
#include <ATen/ops/xlogy.h>

#include "operation_table.h"

namespace thaw::test {

namespace {

/// The caller's output: once of the right size, once to be resized by the operation.
Outputs add_into_both(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor right = at::empty({6, 6}, a.options());
  at::Tensor resized = at::empty({0}, a.options());
  at::add_out(right, a, b);
  at::add_out(resized, a, b);
  return {right, resized};
}

}  // namespace

std::vector<Operation> pointwise_operations() {
  return {
      OP(a + b),
      OP(a - 2 * b),
      OP(a * 0.125),
      OP(a / b),
      OP(-a),
      OP(a.add(b, 2)),
      OP(a.sub(b, 0.5)),
      OP(at::rsub(a, b)),
      OP(1 - a),
      OP(a.abs()),
      OP(a.square()),
      OP(a.pow(2)),
      OP(a.pow(3)),
      OP(a.abs().pow(b)),
      OP(at::pow(2, a)),
      OP(a.abs().sqrt()),
      OP((a.abs() + 1).rsqrt()),
      OP(a.reciprocal()),
      OP(a.exp()),
      OP(a.exp2()),
      OP(a.expm1()),
      OP(a.abs().log()),
      OP(a.abs().log2()),
      OP(a.abs().log10()),
      OP(a.abs().log1p()),
      OP(a.sin()),
      OP(a.cos()),
      OP(a.tan()),
      OP(a.sinh()),
      OP(a.cosh()),
      OP(a.tanh()),
      OP(a.atan()),
      OP(a.atan2(b)),
      OP(a.asinh()),
      OP(a.erf()),
      OP(a.erfc()),
      OP(a.sigmoid()),
      OP(a.logit(0.1)),
      OP(a.relu()),
      OP(at::gelu(a)),
      OP(at::gelu(a, "tanh")),
      OP(at::silu(a)),
      OP(at::silu(a) * b),
      OP(at::mish(a)),
      OP(at::elu(a)),
      OP(at::leaky_relu(a, 0.1)),
      OP(at::hardtanh(a)),
      OP(at::hardswish(a)),
      OP(at::hardsigmoid(a)),
      OP(at::softplus(a)),
      OP(at::log_sigmoid(a)),
      OP(at::threshold(a, 0.5, -1)),
      OP(at::glu(a, -1)),
      OP(at::dropout(a, 0.5, /*train=*/false)),
      OP(a.floor()),
      OP(a.ceil()),
      OP(a.round()),
      OP(a.trunc()),
      OP(a.frac()),
      OP(a.sign()),
      OP(a.signbit()),
      OP(a.clamp(-1, 1)),
      OP(a.clamp_min(0)),
      OP(a.clamp_max(b)),
      OP(a.maximum(b)),
      OP(a.minimum(b)),
      OP(a.fmax(b)),
      OP(a.fmod(b)),
      OP(a.remainder(b)),
      OP(a.floor_divide(b)),
      OP(a.hypot(b)),
      OP(a.copysign(b)),
      OP(a.lerp(b, 0.3)),
      OP(a.lerp(b, a.sigmoid())),
      OP(at::addcmul(a, a, b)),
      OP(at::addcdiv(a, a, b, 0.5)),
      OP_FP32(a.logaddexp(b)),
      OP(at::xlogy(a.abs(), b.abs())),
      OP(at::heaviside(a, b)),
      OP(at::nan_to_num(a.log())),
      OP(a > b),
      OP(a >= 0),
      OP(a < b),
      OP(a <= w),
      OP(a.eq(b)),
      OP(a.ne(0)),
      OP(a.isnan()),
      OP(a.log().isfinite()),
      OP(a.isinf()),
      OP(a.isclose(b, 0.5)),
      OP(a.logical_not()),
      OP(m.logical_and(m.t())),
      OP(at::where(m, a, b)),
      OP(at::where(m, a, 0.0)),
      OP(at::where(m, 1.0, 2.0)),
      OP(a.masked_fill(m, -1)),
      OP(w + a, w.unsqueeze(1) * a),
      OP(w[0] + a),
      // In place: the arguments are compared as well.
      OP(a.add_(b)),
      OP(a.sub_(1)),
      OP(a.mul_(2)),
      OP(a.div_(b)),
      OP(a.neg_()),
      OP(a.exp_()),
      OP(a.relu_()),
      OP(a.pow_(2)),
      OP(a.fill_(2)),
      OP(a.fill_(w[0])),
      OP(a.zero_()),
      OP(a.copy_(b)),
      OP(a.copy_(w)),
      OP(a.copy_(b.t())),
      OP(a.t().copy_(b.to(at::kFloat))),
      OP(a.copy_(w[0])),
      OP(a.masked_fill_(m, 1.5)),
      OP(a.clamp_(-0.5, 0.5)),
      OP(a.clamp_min_(0)),
      OP(a.addcmul_(a, b)),
      OP(a.lerp_(b, 0.25)),
      OP(a.t().add_(1)),
      OP(a.select(0, 1).fill_(7)),
      OP(a.narrow(1, 2, 2).mul_(3)),
      OP(at::_foreach_add({a, b}, 1)),
      OP((at::_foreach_mul_({a, b}, 2), a)),
      OP(add_into_both(a, b)),
  };
}

}  // namespace thaw::test
