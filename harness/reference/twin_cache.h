// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cache/kv_cache.h"

namespace thaw {

/// The cache of an eager reference: entries go where the plan on the host says, copied one by one.
/// Shares nothing with the caches that are tested, cannot be captured, and counts nothing.
class TwinCache final : public KvCache {
 public:
  explicit TwinCache(CacheSpec spec);

  const CacheSpec& spec() const override { return spec_; }
  void prepare(const StepPlan& plan) override { plan_ = plan; }
  void begin_step(int64_t places, int64_t q_len) override {}
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  at::Tensor write_positions() const override { return {}; }
  void reset(std::span<const int64_t> rows) override {}
  std::vector<Buffer> buffers() const override { return {}; }
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override {
    return {};
  }

  /// [rows, kv_heads, slots, dim] of a layer.
  const at::Tensor& entries(int64_t layer, Role role) const {
    const Layer& of = layers_[static_cast<size_t>(layer)];
    return role == Role::keys ? of.keys : of.values;
  }
  /// The positions of `row` that the plan writes: those that fit.
  struct Written {
    int64_t place = 0, row = 0, from = 0, count = 0;
  };
  std::vector<Written> written() const;

 private:
  struct Layer {
    at::Tensor keys, values;
  };

  CacheSpec spec_;
  StepPlan plan_;
  std::vector<Layer> layers_;
};

}  // namespace thaw
