// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/addbmm.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/addr.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/baddbmm.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cdist.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/dot.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/group_norm.h>
#include <ATen/ops/kron.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensordot.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>

#include "operation_table.h"

namespace thaw::test {
namespace {

using at::indexing::Slice;

/// Attention of one query over the grouped heads of a cache.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const std::optional<at::Tensor>& mask, std::optional<double> scale = {}) {
  return at::scaled_dot_product_attention(q, k, v, mask, /*dropout_p=*/0.0, /*is_causal=*/false,
                                          scale, /*enable_gqa=*/true);
}

at::Tensor additive_mask(const at::Tensor& visible, const at::Tensor& like) {
  return at::zeros({1, 1, 1, 16}, like.options()).masked_fill(visible.logical_not(), -INFINITY);
}

/// Rotary embedding at a position that lies on the device, by halves.
at::Tensor rotated(const at::Tensor& q, const at::Tensor& position, const at::Tensor& frequencies) {
  const at::Tensor angles = position.to(at::kFloat).unsqueeze(-1) * frequencies;
  const at::Tensor cosine = angles.cos().to(q.scalar_type());
  const at::Tensor sine = angles.sin().to(q.scalar_type());
  const auto halves = q.chunk(2, -1);
  return at::cat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine},
                 -1);
}

/// The same with complex numbers, as some models do it.
at::Tensor rotated_as_complex(const at::Tensor& q, const at::Tensor& position,
                              const at::Tensor& frequencies) {
  const auto pairs = at::view_as_complex(q.to(at::kFloat).reshape({1, 4, 1, 4, 2}));
  const auto turn = at::polar(at::ones_like(frequencies), position.to(at::kFloat) * frequencies);
  return at::view_as_real(pairs * turn).flatten(3);
}

at::Tensor rms_norm_by_hand(const at::Tensor& a, const at::Tensor& w) {
  const at::Tensor x = a.to(at::kFloat);
  return (x * (x.pow(2).mean(-1, true) + 1e-6).rsqrt()).to(a.scalar_type()) * w;
}

/// A cache of pages of four slots: written through its table, and gathered back in order.
at::Tensor append_to_pages(at::Tensor& pages, const at::Tensor& position, const at::Tensor& entry) {
  const at::Tensor table = at::arange(16, position.options()).flip(0).view({4, 4});
  const at::Tensor slot = table.index({position.floor_divide(4), position.remainder(4)});
  pages.index_put_({Slice(), Slice(), slot}, entry);
  return pages.index_select(2, table.view({16}));
}

at::Tensor matmul_into(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor product = at::empty_like(a);
  return at::mm_out(product, a, b);
}

}  // namespace

std::vector<Operation> linear_operations() {
  return {
      OP(at::mm(a, b)),
      OP(matmul_into(a, b)),
      OP(at::matmul(a, w)),
      OP(at::matmul(k, v.transpose(-1, -2))),
      OP(at::bmm(k[0], v[0].transpose(1, 2))),
      OP(at::addmm(w, a, b)),
      OP(at::addmm(a, a, b, 0.5, 2)),
      OP(at::baddbmm(a.unsqueeze(0), a.unsqueeze(0), b.unsqueeze(0))),
      OP(at::addbmm(a, a.unsqueeze(0), b.unsqueeze(0))),
      OP(at::mv(a, w)),
      OP(at::addmv(w, a, w)),
      OP(at::addr(a, w, w)),
      OP(at::dot(w, w)),
      OP(at::outer(w, w)),
      OP(at::kron(a, b)),
      OP(at::tensordot(a, b, {1}, {0})),
      OP(at::linear(a, b, w)),
      OP(at::linear(a.view({2, 3, 6}), b, w)),
      OP(at::linear(a.view({2, 3, 6}), b)),
      OP(at::einsum("ij,kj->ik", {a, b})),
      OP(at::einsum("bhqd,bhkd->bhqk", {k, v})),
      OP_FP32(at::cdist(a, b)),
      OP(at::conv1d(a.unsqueeze(0), b.narrow(1, 0, 3).unsqueeze(1).repeat({1, 6, 1}))),
      OP(at::conv2d(a.view({1, 1, 6, 6}), b.narrow(0, 0, 3).narrow(1, 0, 3).view({1, 1, 3, 3}))),
      OP(at::max_pool1d(a.unsqueeze(0), 2)),
      OP(at::avg_pool1d(a.unsqueeze(0), 2)),
      OP(at::softmax(a, -1)),
      OP(at::softmax(a, -1, at::kFloat)),
      OP(at::log_softmax(a, 0)),
      OP(at::layer_norm(a, {6}, w, w, 1e-5)),
      OP(at::layer_norm(a, {6})),
      OP(at::native_layer_norm(a, {6}, w, w, 1e-5)),
      OP(at::group_norm(a.unsqueeze(0), 2)),
      OP(at::rms_norm(a, {6}, w, 1e-6)),
      OP(at::rms_norm(a, {6}, w)),
      OP(rms_norm_by_hand(a, w)),
      OP(attention(q, k, v, visible)),
      OP(attention(q, k, v, additive_mask(visible, q), 0.5)),
      OP(attention(q, k, v, {})),
      OP(at::scaled_dot_product_attention(k, k, v, {}, 0.0, /*is_causal=*/true)),
      OP(at::scaled_dot_product_attention(q, at::repeat_interleave(k, 2, 1),
                                          at::repeat_interleave(v, 2, 1), visible)),
      OP(rotated(q, position, frequencies)),
      OP(q.copy_(rotated(q, position, frequencies))),
      OP(rotated_as_complex(q, position, frequencies)),
      OP(append_to_pages(k, position, q.narrow(1, 0, 2))),
  };
}

}  // namespace thaw::test
