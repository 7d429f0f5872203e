// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/bucketize.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isin.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/take_along_dim.h>

#include "operation_table.h"

namespace thaw::test {
namespace {

using at::indexing::Slice;

at::Tensor sorted(const at::Tensor& values) { return std::get<0>(values.sort()); }

at::Tensor select_into(const at::Tensor& a, const at::Tensor& i) {
  at::Tensor rows = at::empty({3, 6}, a.options());
  return at::index_select_out(rows, a, 0, i);
}

}  // namespace

std::vector<Operation> indexing_operations() {
  return {
      OP(a.index_select(0, i)),
      OP(select_into(a, i)),
      OP(a.index({i})),
      OP(a.index({i, i})),
      OP(a.index({Slice(), i})),
      OP(a.index({i.unsqueeze(1), i})),
      OP(a.gather(0, i.unsqueeze(1).expand({3, 6}))),
      OP(at::take_along_dim(a, i.unsqueeze(1), 0)),
      OP(a.take(i)),
      OP(at::embedding(a, i)),
      OP(a.scatter(0, i.unsqueeze(1).expand({3, 6}), c)),
      OP(a.scatter_add(0, i.unsqueeze(1).expand({3, 6}), c)),
      OP(a.scatter_reduce(0, i.unsqueeze(1).expand({3, 6}), c, "amax")),
      OP(a.index_copy(0, i, c)),
      OP(a.index_add(0, i, c, 2)),
      OP(a.index_fill(0, i, 3)),
      OP(a.index_put({i}, c)),
      OP(at::isin(a, w)),
      OP(at::one_hot(i, 6)),
      OP(at::searchsorted(sorted(w), a)),
      OP(at::bucketize(a, sorted(w))),
      OP(a.masked_scatter(m, b)),
      // In place.
      OP(a.scatter_(0, i.unsqueeze(1), 3.0)),
      OP(a.scatter_(0, i.unsqueeze(1).expand({3, 6}), c)),
      OP(a.scatter_add_(0, i.unsqueeze(1).expand({3, 6}), c)),
      OP(a.index_copy_(0, i, c)),
      OP(a.index_add_(0, i, c)),
      OP(a.index_fill_(0, i, 2)),
      OP(a.index_put_({i}, c)),
      OP(a.index_put_({i}, c, /*accumulate=*/true)),
      OP(a.index_put_({i}, at::scalar_tensor(2.0, w.options()))),
      OP(a.index_put_({Slice(), i}, c.t())),
      OP(a.put_(i, w.narrow(0, 0, 3))),
      OP(a.narrow(0, 1, 3).copy_(c)),
      OP(a.select(1, 2).copy_(w)),
      // As caches do it, at a position that lies on the device.
      OP(k.index_copy_(2, position, q.narrow(1, 0, 2))),
      OP(k.index_put_({Slice(), Slice(), position}, q.narrow(1, 0, 2))),
      OP(k.scatter_(2, position.view({1, 1, 1, 1}).expand({1, 2, 1, 8}), q.narrow(1, 0, 2))),
      OP(k.index_copy_(2, (position + 3).remainder(16), q.narrow(1, 0, 2)), position.add_(1)),
      OP(position.add_(1).remainder_(16), position + 1, position.floor_divide(4), position % 4),
      OP(position < 5, position.eq(3), position * 2),
  };
}

}  // namespace thaw::test
