// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"

namespace thaw {

/// A cache that is nothing but functions: what a cache in another language needs. Those that may be
/// empty are marked; an empty crop, reorder or copy_row is an ability that the cache lacks.
class TrampolineCache : public KvCache {
 public:
  struct Verbs {
    std::function<CacheAbilities()> abilities;  ///< may be empty: all
    std::function<void(const StepPlan&)> prepare;
    std::function<void(int64_t places, int64_t q_len)> begin_step;  ///< may be empty
    std::function<KeysValues(int64_t layer, const at::Tensor& keys, const at::Tensor& values)>
        update;
    std::function<void()> end_step;  ///< may be empty
    std::function<at::Tensor()> write_positions;
    std::function<void(std::span<const int64_t> rows)> reset;
    std::function<void(int64_t row, int64_t length)> crop;  ///< may be empty
    std::function<void(std::span<const int64_t> from, std::span<const int64_t> lengths)>
        reorder;                                                             ///< may be empty
    std::function<void(int64_t from, int64_t to, int64_t length)> copy_row;  ///< may be empty
    std::function<void()> wake;                                              ///< may be empty
    std::function<std::vector<Buffer>()> buffers;
    std::function<std::optional<Place>(int64_t layer, int64_t row, int64_t head, int64_t position,
                                       Role role)>
        locate;
    std::function<std::vector<uint64_t>()> host_state;  ///< may be empty
  };

  TrampolineCache(CacheSpec spec, Verbs verbs);

  const CacheSpec& spec() const override { return spec_; }
  CacheAbilities abilities() const override;
  void prepare(const StepPlan& plan) override;
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  void end_step() override;
  at::Tensor write_positions() const override;
  void reset(std::span<const int64_t> rows) override;
  void crop(int64_t row, int64_t length) override;
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;
  void wake() override;
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override;
  std::vector<uint64_t> host_state() const override;

 private:
  CacheSpec spec_;
  Verbs verbs_;
};

/// Functions that call `cache`, all of them; take some away to take abilities away.
TrampolineCache::Verbs verbs_of(std::shared_ptr<KvCache> cache);

std::unique_ptr<TrampolineCache> trampoline_over(std::shared_ptr<KvCache> cache);

}  // namespace thaw
