// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/cumulative_trapezoid.h>
#include <ATen/ops/diff.h>
#include <ATen/ops/kthvalue.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/std_mean.h>
#include <ATen/ops/var_mean.h>

#include "operation_table.h"

namespace thaw::test {

std::vector<Operation> reducing_operations() {
  return {
      OP(a.sum()),
      OP(a.sum(0)),
      OP(a.sum(at::IntArrayRef({0, 1}), /*keepdim=*/true)),
      OP(a.sum(-1, false, at::kFloat)),
      OP(a.nansum()),
      OP(a.mean()),
      OP(a.mean(-1, true)),
      OP(a.nanmean(0)),
      OP(a.var(1)),
      OP(a.std(0, true, true)),
      OP(at::var_mean(a, 1)),
      OP(at::std_mean(a, 0)),
      OP(a.prod()),
      OP(a.prod(0)),
      OP(a.norm()),
      OP(a.norm(1, 0)),
      OP(at::linalg_vector_norm(a)),
      OP(a.logsumexp(1)),
      OP(a.max()),
      OP(a.min()),
      OP(a.max(1)),
      OP(a.min(0, true)),
      OP(a.amax(-1, true)),
      OP(a.amin(0)),
      OP(a.aminmax()),
      OP(a.argmax()),
      OP(a.argmax(-1)),
      OP(a.argmin(0)),
      OP(a.median()),
      OP(a.median(1)),
      OP(a.nanmedian(1)),
      OP(at::kthvalue(a, 2)),
      OP(a.mode(0)),
      OP_FP32(a.quantile(0.5, 0)),
      OP(a.all()),
      OP(a.any()),
      OP(m.all(1)),
      OP(m.any(0)),
      OP(m.sum()),
      OP(m.count_nonzero(at::IntArrayRef({1}))),
      OP(a.cumsum(0)),
      OP(a.cumsum(-1, at::kFloat)),
      OP(a.cumprod(0)),
      OP(a.cummax(1)),
      OP(a.cummin(1)),
      OP(a.logcumsumexp(0)),
      OP(a.cumsum_(1)),
      OP(at::diff(a)),
      OP(at::cumulative_trapezoid(a)),
      OP_FP32(a.trace()),
      OP(a.topk(2)),
      OP(a.topk(3, 0, /*largest=*/false)),
      OP(a.sort(1)),
      OP(a.sort(0, /*descending=*/true)),
      OP(a.argsort(1, false)),
      OP(a.msort()),
      OP(a.renorm(2, 0, 1)),
      OP(a.dist(b)),
  };
}

}  // namespace thaw::test
