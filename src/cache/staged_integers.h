// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace thaw {

/// Integers that the host knows and that a captured step reads: a device tensor that never moves,
/// and the host copy that refills it.
///
/// One copy refills all lines. It comes from pageable memory and blocks: the host may go on writing
/// at once, whatever the device still has to do, and a refill inside a capture is refused by the
/// device (rules 37 and 38) instead of being frozen.
class StagedIntegers {
 public:
  StagedIntegers(int64_t lines, int64_t width, c10::Device device);

  std::span<int64_t> host(int64_t line) {
    return {host_.mutable_data_ptr<int64_t>() + line * width_, static_cast<size_t>(width_)};
  }
  void upload() { device_.copy_(host_); }
  /// [lines, width] int64, what upload copies.
  const at::Tensor& host() const { return host_; }

  /// [lines, width] int64.
  const at::Tensor& device() const { return device_; }
  /// The first `count` integers of one line, a view; count is 1 to width.
  const at::Tensor& device(int64_t line, int64_t count) const;

 private:
  int64_t width_;
  at::Tensor host_;
  at::Tensor device_;
  mutable std::vector<at::Tensor> views_;  ///< made at first use: making one costs more than a copy
};

}  // namespace thaw
