// SPDX-License-Identifier: Apache-2.0
#include "cache/refused_count.h"

#include <ATen/ops/zeros.h>

#include "kernels/operators.h"
#include "kernels/torch_operators.h"

namespace thaw {

RefusedCount::RefusedCount(const CacheSpec& spec)
    : slots_(spec.slots),
      kernels_(spec.kernels),
      count_(at::zeros({}, at::TensorOptions().dtype(at::kLong).device(spec.device))) {}

void RefusedCount::add(const at::Tensor& rows, const at::Tensor& positions, int64_t q_len) const {
  const auto count = kernels_ == Kernels::torch ? torch_ops::count_refused_ : ops::count_refused_;
  count(count_, rows, positions, q_len, slots_);
}

}  // namespace thaw
