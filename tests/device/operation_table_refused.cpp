// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/histc.h>
#include <ATen/ops/linalg_cholesky.h>
#include <ATen/ops/linalg_solve.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/unique_dim.h>

#include "operation_table.h"

namespace thaw::test {
namespace {

/// What the host learnt, as a tensor of the host: comparable like any other result.
at::Tensor learnt(const at::Scalar& value) { return at::scalar_tensor(value, at::kDouble); }

at::Tensor definite(const at::Tensor& a) {
  return a.mm(a.t()) + 36 * at::ones_like(a).tril().triu();
}

}  // namespace

std::vector<Operation> synchronising_operations() {
  return {
      OP(learnt(w[0].item())),
      OP(learnt(w[0].is_nonzero())),
      OP(learnt(a.equal(a))),
      OP(learnt(a.allclose(b))),
      OP(a.nonzero()),
      OP(a.argwhere()),
      OP(a.masked_select(m)),
      OP(a.index({m})),
      OP(a.index_put_({m}, w[0])),
      OP(at::_unique2(i)),
      OP(at::unique_dim(a, 0)),
      OP(at::one_hot(i)),
      OP(at::repeat_interleave(i)),
      OP(c.repeat_interleave(i + 1, 0)),
      OP(i.bincount()),
      OP(at::histc(a)),
      OP(at::linalg_solve(definite(a), w)),
      OP(at::linalg_cholesky(definite(a))),
  };
}

std::vector<MissingOperation> missing_fp8_operations() {
  return {
      {"index_copy", OP(a.index_copy_(0, i, c))},
      {"scatter", OP(a.scatter_(0, i.unsqueeze(1).expand({3, 6}), c))},
      {"masked_fill", OP(a.masked_fill_(m, 1))},
  };
}

}  // namespace thaw::test
