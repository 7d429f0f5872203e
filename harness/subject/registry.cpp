// SPDX-License-Identifier: Apache-2.0
#include "subject/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cache/counter_cache.h"
#include "cache/ring_cache.h"
#include "cache/shift_cache.h"
#include "cache/sliding_split_cache.h"
#include "cache/static_cache.h"
#include "case/suggestions.h"
#include "decoder/llama_decoder.h"
#include "decoder/tag_decoder.h"

namespace thaw {
namespace {

at::ScalarType scalar_type(CaseDtype dtype) {
  switch (dtype) {
    case CaseDtype::fp32:
      return at::kFloat;
    case CaseDtype::fp16:
      return at::kHalf;
    case CaseDtype::bf16:
      return at::kBFloat16;
  }
  return at::kFloat;
}

}  // namespace

CacheSpec cache_spec(const Case& c, c10::Device device, Kernels kernels) {
  const Settings& settings = c.settings;
  const at::ScalarType dtype = scalar_type(settings.dtype);
  const LayerSpec layer{.kv_heads = settings.kv_heads,
                        .key_dim = settings.dim,
                        .value_dim = settings.dim,
                        .key_dtype = dtype,
                        .value_dtype = dtype};
  return {.rows = settings.rows,
          .slots = settings.slots,
          .q_len_max = c.q_len_max(),
          .window = settings.window,
          .layers = std::vector<LayerSpec>(static_cast<size_t>(settings.layers), layer),
          .device = device,
          .kernels = kernels};
}

DecoderSpec decoder_spec(const Case& c) {
  return {.heads = c.settings.heads, .seed = static_cast<int64_t>(c.settings.seed)};
}

std::unique_ptr<Decoder> make_decoder(const Case& c, const CacheSpec& spec) {
  if (c.settings.decoder == DecoderKind::llama) {
    return std::make_unique<LlamaDecoder>(decoder_spec(c), spec);
  }
  return std::make_unique<TagDecoder>(decoder_spec(c), spec);
}

Registry Registry::standard() {
  Registry registry;
  registry.add_cache(
      "static", "the write position comes from the caller, in a tensor that never moves", false,
      [](const CacheSpec& spec) { return std::make_unique<StaticCache>(spec); });
  registry.add_cache(
      "ring", "rows that are rings of `window` slots; the position comes from the caller", false,
      [](const CacheSpec& spec) { return std::make_unique<RingCache>(spec); }, Layout::ring);
  registry.add_cache(
      "shift", "rows of `window` slots that move up when full; the position comes from the caller",
      false, [](const CacheSpec& spec) { return std::make_unique<ShiftCache>(spec); },
      Layout::shift);
  const auto counter = [&](CounterMode mode, std::string_view name, std::string summary) {
    registry.add_cache(
        fmt::format("counter:{}", name), std::move(summary), true,
        [mode](const CacheSpec& spec) { return std::make_unique<CounterCache>(spec, mode); });
  };
  counter(CounterMode::host_int, "host_int", "counts in a C++ integer: freezes");
  counter(CounterMode::cpu_scalar, "cpu_scalar", "counts in a 0-dim CPU tensor: freezes");
  counter(CounterMode::device_rebind, "device_rebind",
          "count = count + n on the device: freezes on memory that was freed");
  counter(CounterMode::device_in_place, "device_in_place",
          "count.add_(n) on the device: drifts by the warm-ups");
  registry.add_cache(
      "counter:sliding_split",
      "rows that move up when full; index from the device, branch from the host: right until then",
      true, [](const CacheSpec& spec) { return std::make_unique<SlidingSplitCache>(spec); },
      Layout::shift);
  return registry;
}

void Registry::add_cache(std::string name, std::string summary, bool faulty, MakeCache make,
                         Layout layout) {
  add({std::move(name), std::move(summary), faulty,
       [make = std::move(make)](Device& device, const Case& c, Kernels kernels) {
         const CacheSpec spec = cache_spec(c, device.torch_device(), kernels);
         return std::make_unique<Subject>(device, c, make(spec), make_decoder(c, spec));
       },
       layout});
}

void Registry::add(Entry entry) { entries_.push_back(std::move(entry)); }

const Registry::Entry* Registry::find(std::string_view name) const {
  if (name == "counter") name = "counter:host_int";
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::string Registry::unknown(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  const std::string_view nearest = nearest_word(name, names);
  const std::string meant = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
  return fmt::format("unknown cache '{}'{} ('thaw list caches' shows all)", name, meant);
}

}  // namespace thaw
