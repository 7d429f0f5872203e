// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace thaw {

/// One block of memory, allocated once, from which a step takes its intermediate results in order.
/// The same step takes the same pieces each time, so a captured one finds them where they were.
class Scratch {
 public:
  Scratch(int64_t bytes, c10::Device device);

  /// An uninitialised contiguous tensor. Throws std::logic_error when the block is used up.
  at::Tensor take(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat);

  /// Where the next piece begins, and back to there: pieces taken since are given up.
  int64_t mark() const { return used_; }
  void rewind(int64_t mark) { used_ = mark; }

  const at::Tensor& block() const { return block_; }

 private:
  const at::Tensor& as(at::ScalarType dtype);

  at::Tensor block_;  ///< bytes
  std::vector<std::pair<at::ScalarType, at::Tensor>> views_;
  int64_t used_ = 0;
};

}  // namespace thaw
