// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/block_diag.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/diag_embed.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/hstack.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/meshgrid.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/pixel_shuffle.h>
#include <ATen/ops/reflection_pad1d.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tril_indices.h>
#include <ATen/ops/triu_indices.h>
#include <ATen/ops/upsample_nearest1d.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "operation_table.h"

namespace thaw::test {

std::vector<Operation> shaping_operations() {
  return {
      OP(at::cat({a, b, c}, 0)),
      OP(at::cat({k, q.narrow(1, 0, 2)}, 2)),
      OP(at::stack({a, b}, 1)),
      OP(at::hstack({a, b.t()})),
      OP(at::block_diag({a, c})),
      OP(a.chunk(3)[1] * 2),
      OP(a.split(2, 1)[0].contiguous()),
      OP(a.tensor_split(4, 0)),
      OP(a.unbind(0)),
      OP(a.unbind(0)[2].clone()),
      OP(a.t()),
      OP(a.t().contiguous()),
      OP(a.view({2, 3, 6}).permute({2, 0, 1}).contiguous()),
      OP(a.view({2, 3, 6}).permute({2, 0, 1}).reshape({6, 6})),
      OP(a.transpose(0, 1).reshape({36})),
      OP(a.movedim(0, 1) + 0),
      OP(a.flip(0)),
      OP(a.roll(-1, 0)),
      OP(a.rot90()),
      OP(a.repeat({2, 1})),
      OP(a.tile({1, 2})),
      OP(a.repeat_interleave(2, 0)),
      OP(a.tril()),
      OP(a.triu(1)),
      OP(a.tril_(-1)),
      OP(at::full({6, 6}, -INFINITY, a.options()).triu(1)),
      OP(a.unfold(0, 2, 1)),
      OP(a.unfold(0, 2, 2).contiguous()),
      OP(a.diagonal()),
      OP(a.diagonal().clone()),
      OP(a.diagonal().add_(1)),
      OP(at::diag_embed(w)),
      OP(a.expand({2, 6, 6})),
      OP(a.expand({2, 6, 6}).sum(0)),
      OP(w.expand({3, 6}).contiguous()),
      OP(k.unsqueeze(2).expand({1, 2, 2, 16, 8}).reshape({1, 4, 16, 8})),
      OP(a.as_strided({3, 3}, {7, 1}, 2).clone()),
      OP(a.unsqueeze(0).squeeze() + 0),
      OP(a.slice(0, 1, 6, 2)),
      OP(a.slice(1, 0, 6, 3).clone()),
      OP(a.select(0, 1).clone()),
      OP(a.flatten() + 0),
      OP(a.unflatten(1, at::IntArrayRef({2, 3})) + 0),
      OP(at::constant_pad_nd(a, {1, 1})),
      OP(at::reflection_pad1d(a.unsqueeze(0), {2, 1})),
      OP(at::upsample_nearest1d(a.unsqueeze(0), {12})),
      OP(at::pixel_shuffle(a.narrow(0, 0, 4).reshape({1, 4, 6, 1}), 2)),
      OP(at::meshgrid({w, w}, "ij")),
      OP(a.resize_({3, 6})),
      OP(a.clone(at::MemoryFormat::Contiguous)),
      OP(k.contiguous(at::MemoryFormat::ChannelsLast)),
      OP(at::zeros({2, 3}, a.options())),
      OP(at::ones({2, 3}, a.options())),
      OP(at::zeros_like(a)),
      OP(at::ones_like(a) + a),
      OP(at::full({3}, 2.5, a.options())),
      OP(at::full_like(a, 3)),
      OP(at::empty_like(a).copy_(b)),
      OP(at::empty_strided({6, 6}, {1, 6}, a.options()).copy_(a)),
      OP(a.new_zeros({4})),
      OP(at::scalar_tensor(3, a.options()) * a),
      OP(at::eye(6, a.options()) + a),
      OP(at::arange(6, a.options()) + a),
      OP(at::arange(6, i.options())),
      OP(at::arange(2, 9, 2, i.options().dtype(at::kInt))),
      OP(at::arange(0, 1, 0.25, frequencies.options())),
      OP(at::linspace(0, 1, 6, a.options()) + w),
      OP(at::tril_indices(4, 4, 0, i.options())),
      OP(at::triu_indices(4, 4, 0, i.options())),
      OP(a.to(at::kFloat)),
      OP(a.to(at::kHalf)),
      OP(a.to(at::kBFloat16)),
      OP(a.to(at::kDouble)),
      OP(a.to(at::kLong)),
      OP(a.to(at::kChar)),
      OP(a.to(at::kBool)),
      OP(m.to(a.scalar_type())),
      OP(a.to(at::kFloat8_e4m3fn).to(at::kFloat)),
      OP(a.to(at::kFloat8_e5m2).to(at::kFloat)),
      OP(a.view(a.element_size() == 2 ? at::kShort : at::kInt) + 0),
      OP_FP32(at::view_as_real(at::complex(a, b))),
  };
}

}  // namespace thaw::test
