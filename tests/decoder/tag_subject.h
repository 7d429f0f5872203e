// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cache/static_cache.h"
#include "decoder/tag_decoder.h"

namespace thaw {

/// A tag decoder over a StaticCache on some device, with its inputs, and what the host expects of
/// both: which op wrote each position of each row.
class TagSubject {
 public:
  explicit TagSubject(CacheSpec spec, int64_t heads = 2);

  /// Refills all inputs, as a caller does before every step, capture and replay.
  void refill(const StepPlan& plan, int64_t generation);
  /// Only enqueues, so that it can be captured.
  void enqueue(int64_t places, int64_t q_len) { decoder_.step(cache_, inputs_, places, q_len); }
  /// Notes that the step of the last refill has run.
  void expect_written();
  void step(const StepPlan& plan, int64_t generation);

  /// What differs from what is expected of the cache's entries and of the output; else empty.
  std::string differences() const;
  /// Of keys, values and output of the last step; for comparisons bit by bit.
  std::vector<at::Tensor> contents() const;

  const TagDecoder& decoder() const { return decoder_; }
  at::Tensor output() const;

 private:
  std::string entry_differences() const;
  std::string output_differences() const;
  /// The digits of the entry that lies at a position, as expected.
  std::vector<float> entry(int64_t layer, int64_t row, int64_t position, int64_t head,
                           bool value) const;

  CacheSpec spec_;
  int64_t heads_;
  TagDecoder decoder_;
  StaticCache cache_;
  StepInputs inputs_;
  StepPlan plan_;
  int64_t generation_ = 0;
  std::vector<std::vector<int64_t>> writers_;  ///< per row and position the op, or -1
};

}  // namespace thaw
