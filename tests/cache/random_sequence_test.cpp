// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "cache/counter_cache.h"
#include "cache/static_cache.h"
#include "cache/twin.h"
#include "caches/paged_cache.h"
#include "caches/trampoline_cache.h"

namespace thaw {
namespace {

struct NamedCache {
  std::string name;
  std::function<std::unique_ptr<KvCache>(CacheSpec)> make;
};
void PrintTo(const NamedCache& cache, std::ostream* out) { *out << cache.name; }

NamedCache counter(CounterMode mode) {
  return {"counter_" + std::string(name_of(mode)),
          [mode](CacheSpec spec) { return std::make_unique<CounterCache>(std::move(spec), mode); }};
}

std::vector<NamedCache> all_caches() {
  std::vector<NamedCache> caches{
      {"static", [](CacheSpec spec) { return std::make_unique<StaticCache>(std::move(spec)); }},
      {"static_in_plain_operations",
       [](CacheSpec spec) {
         spec.kernels = Kernels::torch;
         return std::make_unique<StaticCache>(std::move(spec));
       }},
      {"paged", [](CacheSpec spec) { return std::make_unique<PagedCache>(std::move(spec), 3); }},
      {"trampoline", [](CacheSpec spec) {
         return trampoline_over(std::make_shared<StaticCache>(std::move(spec)));
       }}};
  for (const CounterMode mode : counter_modes) caches.push_back(counter(mode));
  return caches;
}

/// Odd sizes, all dtypes; 11 slots are no multiple of the paged cache's blocks.
CacheSpec varied_spec() {
  CacheSpec spec;
  spec.rows = 4;
  spec.slots = 11;
  spec.q_len_max = 5;
  spec.layers = {{1, 8, 8, at::kFloat, at::kFloat},
                 {2, 5, 3, at::kHalf, at::kBFloat16},
                 {3, 4, 7, at::kFloat8_e4m3fn, at::kFloat}};
  return spec;
}

class EveryCache : public testing::TestWithParam<NamedCache> {};

// For the counters this is the control: without warm-up and capture nothing is wrong with them.
TEST_P(EveryCache, random_sequences_without_warm_up_and_capture_equal_the_slow_twin) {
  for (uint32_t seed = 1; seed <= 12 && !HasFailure(); ++seed) {
    const auto cache = GetParam().make(varied_spec());
    expect_random_sequence_equals_twin(*cache, seed, 60);
  }
}

INSTANTIATE_TEST_SUITE_P(Caches, EveryCache, testing::ValuesIn(all_caches()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace thaw
