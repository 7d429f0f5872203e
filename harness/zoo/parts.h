// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

#include "cache/static_cache.h"
#include "decoder/tag_decoder.h"
#include "subject/registry.h"

namespace thaw::zoo {

/// A subject made of the right parts, but for those that a fault or a decoy brings: a cache that is
/// constructed from a CacheSpec, a decoder from a DecoderSpec and a CacheSpec, a caller as Subject
/// is.
template <class Cache = StaticCache, class StepDecoder = TagDecoder, class Caller = Subject>
Registry::MakeSubject made_of() {
  return [](Device& device, const Case& c, Kernels kernels) {
    const CacheSpec spec = cache_spec(c, device.torch_device(), kernels);
    return std::make_unique<Caller>(device, c, std::make_unique<Cache>(spec),
                                    std::make_unique<StepDecoder>(decoder_spec(c), spec));
  };
}

template <class StepDecoder>
Registry::MakeSubject with_decoder() {
  return made_of<StaticCache, StepDecoder>();
}

template <class Caller>
Registry::MakeSubject with_caller() {
  return made_of<StaticCache, TagDecoder, Caller>();
}

/// The tensor of the buffer that its owner calls `name`. Throws std::invalid_argument if there is
/// none.
at::Tensor buffer_named(const KvCache& cache, std::string_view name);

/// Where StaticCache keeps what the caller said about the step: [3, rows] int64, and which line of
/// it is what.
struct StepTable {
  static constexpr int64_t rows = 0;
  static constexpr int64_t positions = 1;
  static constexpr int64_t write_positions = 2;
};
inline at::Tensor step_table(const StaticCache& cache) { return buffer_named(cache, "positions"); }

at::TensorOptions integers_on_device(const CacheSpec& spec);
at::TensorOptions pinned_integers();

}  // namespace thaw::zoo
