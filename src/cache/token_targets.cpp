// SPDX-License-Identifier: Apache-2.0
#include "cache/token_targets.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <limits>

namespace thaw {
namespace {

at::TensorOptions integers_on(c10::Device device) {
  return at::TensorOptions().dtype(at::kLong).device(device);
}

}  // namespace

CacheSpec rolling_spec(CacheSpec spec) {
  if (spec.window > 0) spec.slots = spec.window;
  spec.window = spec.slots;
  return spec;
}

CacheSpec without_capacity(CacheSpec spec) {
  spec.slots = std::numeric_limits<int64_t>::max() / 2;
  return spec;
}

TokenTargets::TokenTargets(const CacheSpec& spec)
    : storage_(at::full({2, spec.rows * spec.q_len_max}, -1, integers_on(spec.device))),
      numbers_(at::arange(std::max(spec.q_len_max, spec.slots), integers_on(spec.device))) {}

void TokenTargets::set(const at::Tensor& rows, const at::Tensor& slots) {
  const int64_t tokens = slots.numel();
  rows_ = storage_[0].narrow(0, 0, tokens);
  slots_ = storage_[1].narrow(0, 0, tokens);
  rows_.view(slots.sizes()).copy_(rows.unsqueeze(1).expand(slots.sizes()));
  slots_.view(slots.sizes()).copy_(slots);
}

at::Tensor TokenTargets::as_places(const at::Tensor& entries) {
  if (entries.size(2) == 1) return entries;
  return entries.permute({0, 2, 1, 3}).reshape({-1, entries.size(1), 1, entries.size(3)});
}

}  // namespace thaw
