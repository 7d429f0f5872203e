// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cache/kv_cache.h"

namespace thaw {

/// What the caller refills in place before every step and every capture; the addresses never move.
struct StepInputs {
  at::Tensor rows;        ///< [rows] int64: per place its row, -1 if padded
  at::Tensor positions;   ///< [rows] int64: per place the position of its first token, -1 if padded
  at::Tensor generation;  ///< [1] int64: number of the op, modulo 65536
  at::Tensor tokens;      ///< [rows, q_len_max] int64
};

struct DecoderSpec {
  int64_t heads = 2;  ///< query heads, a multiple of the kv heads
  int64_t seed = 1;   ///< of weights, where there are any
};

/// The step that is captured: one forward pass over a cache, everything on the device.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// One pass for the first `places` places with q_len tokens each, from `inputs`, through `cache`.
  /// Enqueues only: runs eagerly or inside a capture.
  virtual void step(KvCache& cache, const StepInputs& inputs, int64_t places, int64_t q_len) = 0;

  /// Where the last step of this shape left its output, fp32 [parts, places, heads, q_len, size]:
  /// of the tag decoder a part a layer, of the llama decoder one part and one head.
  /// A buffer that never moves and that the next step overwrites.
  virtual at::Tensor output(int64_t places, int64_t q_len) const = 0;

  /// Every storage of its own that a captured step may touch.
  virtual std::vector<Buffer> buffers() const = 0;
};

}  // namespace thaw
