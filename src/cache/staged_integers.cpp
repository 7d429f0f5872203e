// SPDX-License-Identifier: Apache-2.0
#include "cache/staged_integers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

namespace thaw {

StagedIntegers::StagedIntegers(int64_t lines, int64_t width, c10::Device device)
    : width_(width),
      host_(at::full({lines, width}, -1, at::TensorOptions().dtype(at::kLong))),
      device_(at::empty({lines, width}, at::TensorOptions().dtype(at::kLong).device(device))),
      views_(static_cast<size_t>(lines * width)) {}

const at::Tensor& StagedIntegers::device(int64_t line, int64_t count) const {
  at::Tensor& view = views_.at(static_cast<size_t>(line * width_ + count - 1));
  if (!view.defined()) view = device_.select(0, line).narrow(0, 0, count);
  return view;
}

}  // namespace thaw
