// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "reference/reference.h"

namespace thaw {

/// The reference of the tag decoder: entries are tags, outputs exact sums of them.
class TagReference final : public Reference {
 public:
  /// Throws std::invalid_argument if keys and values of a layer differ in dim or dtype: the tag
  /// decoder sums them.
  TagReference(const Settings& settings, const CacheSpec& cache, const Ledger& ledger);

  void step(const Ledger& ledger, const StepPlan& plan, int64_t number, bool commits) override;
  void follow(const Ledger& ledger) override;
  void put_entry(const EntryName& entry, const Provenance& provenance, at::ScalarType dtype,
                 const Place& place, std::byte* to) override;
  std::span<const float> output(const OutputName& name) const override;
  std::string describe_entry(std::span<const float> entry) const override;
  std::string describe(const OutputName& name) const override;
  std::string describe_output(const OutputName& name, std::span<const float> output) const override;

 private:
  using Encoded = std::array<std::array<std::byte, 4>, 16>;  ///< bytes of the numbers 0..15

  /// The positions [from, to) of a row.
  struct Range {
    int64_t from, to;
  };

  const Encoded& encoded(at::ScalarType dtype);
  size_t sum_index(int64_t layer, int64_t row, int64_t head, int64_t position) const;
  bool keeps_sums() const { return !sums_.empty(); }
  /// What a token of the last step sees (R9).
  Range seen_by(const OutputName& name) const;
  /// [dim]: the sum over the range of key + 2 * value. Valid until the next call.
  std::span<const float> sum_over(const OutputName& name, Range range) const;
  void add_to_sum(const EntryName& entry, int64_t dim, std::span<const uint8_t> digits);

  CacheSpec spec_;
  const Ledger& ledger_;
  int64_t slots_, group_;
  StepPlan plan_;  ///< of the last step
  std::vector<std::pair<at::ScalarType, Encoded>> encoded_;
  std::vector<size_t> layer_sums_;  ///< where a layer's sums begin
  /// [layers][rows, kv_heads, slots, dim]: from the first position on through each one. Empty where
  /// rows lose entries; sums are then made when they are asked for.
  std::vector<float> sums_;
  mutable std::vector<float> sum_;
};

}  // namespace thaw
