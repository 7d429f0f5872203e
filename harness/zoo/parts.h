// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "cache/static_cache.h"
#include "decoder/tag_decoder.h"
#include "subject/registry.h"

namespace thaw::zoo {

/// A subject made of the right parts, but for those that a fault or a decoy brings: a cache that is
/// constructed from a CacheSpec, a decoder from a DecoderSpec and a CacheSpec, a caller as Subject
/// is. Without a decoder of its own: the one that the case asks for.
template <class Cache = StaticCache, class StepDecoder = void, class Caller = Subject>
Registry::MakeSubject made_of() {
  return [](Device& device, const Case& c, Kernels kernels) {
    const CacheSpec spec = cache_spec(c, device.torch_device(), kernels);
    std::unique_ptr<Decoder> decoder;
    if constexpr (std::is_void_v<StepDecoder>) {
      decoder = make_decoder(c, spec);
    } else {
      decoder = std::make_unique<StepDecoder>(decoder_spec(c), spec);
    }
    return std::make_unique<Caller>(device, c, std::make_unique<Cache>(spec), std::move(decoder));
  };
}

template <class StepDecoder>
Registry::MakeSubject with_decoder() {
  return made_of<StaticCache, StepDecoder>();
}

template <class Caller>
Registry::MakeSubject with_caller() {
  return made_of<StaticCache, void, Caller>();
}

/// The tensor of the buffer that its owner calls `name`. Throws std::invalid_argument if there is
/// none.
at::Tensor buffer_named(const KvCache& cache, std::string_view name);

/// Keys and values of a layer.
KeysValues layer_buffers(const KvCache& cache, int64_t layer);

/// Where StaticCache keeps what the caller said about the step: [3, rows] int64, and which line of
/// it is what.
struct StepTable {
  static constexpr int64_t rows = 0;
  static constexpr int64_t positions = 1;
  static constexpr int64_t write_positions = 2;
};
inline at::Tensor step_table(const StaticCache& cache) { return buffer_named(cache, "positions"); }

/// A right cache that remembers on the host what the caller said about the step: what faults that
/// ask the host instead of the device are made of.
class PlanKeepingCache : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void prepare(const StepPlan& plan) override {
    plan_ = plan;
    StaticCache::prepare(plan);
  }
  const StepPlan& plan() const { return plan_; }
  /// Of the rows of the step, the most entries that one has once the step is made; at least 1, at
  /// most spec().slots.
  int64_t longest_after_step() const;

 private:
  StepPlan plan_;
};

/// Writes numbers that the host knows, one kernel a number, which takes it as an argument: what a
/// capture freezes. `integers` begins with one for each of `values`.
void write_as_arguments(const at::Tensor& integers, std::span<const int64_t> values);

at::TensorOptions integers_on_device(const CacheSpec& spec);
at::TensorOptions pinned_integers();

}  // namespace thaw::zoo
