// SPDX-License-Identifier: Apache-2.0
#include "decoder/scratch.h"

#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <stdexcept>

namespace thaw {
namespace {

/// What matrix products like, and every allocator gives.
constexpr int64_t alignment = 64;

}  // namespace

Scratch::Scratch(int64_t bytes, c10::Device device)
    : block_(at::zeros({(bytes + alignment - 1) / alignment * alignment},
                       at::TensorOptions().dtype(at::kByte).device(device))) {}

at::Tensor Scratch::take(at::IntArrayRef sizes, at::ScalarType dtype) {
  const auto element_size = static_cast<int64_t>(c10::elementSize(dtype));
  const int64_t bytes = c10::multiply_integers(sizes) * element_size;
  if (used_ + bytes > block_.numel()) {
    throw std::logic_error(
        fmt::format("a step needs more than its scratch of {} bytes", block_.numel()));
  }
  const int64_t offset = used_ / element_size;
  used_ += (bytes + alignment - 1) / alignment * alignment;
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t i = sizes.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sizes[i + 1];
  return as(dtype).as_strided(sizes, strides, offset);
}

const at::Tensor& Scratch::as(at::ScalarType dtype) {
  for (const auto& [known, view] : views_) {
    if (known == dtype) return view;
  }
  return views_.emplace_back(dtype, block_.view(dtype)).second;
}

}  // namespace thaw
