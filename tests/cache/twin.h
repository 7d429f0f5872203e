// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/kv_cache.h"

namespace thaw {

/// The slow twin of a cache: which refill wrote each entry, on std::vector. It follows every verb
/// and says what the cache must hold.
class TwinCache {
 public:
  explicit TwinCache(const CacheSpec& spec);

  void step(const StepPlan& plan, int64_t generation);
  void reset(const std::vector<int64_t>& rows);
  void crop(int64_t row, int64_t length);
  void reorder(const std::vector<int64_t>& from);
  void copy_row(int64_t from, int64_t to);

  std::vector<int64_t> lengths() const;

  /// Fails the test where a committed entry, a write position or the refused count of `cache` is
  /// not as it must be.
  void expect_equal(const KvCache& cache) const;

 private:
  struct Entry {
    int64_t generation;
    int64_t row;  ///< that it was written for
  };
  struct Row {
    std::vector<Entry> entries;
    /// What write_positions may say besides the length: the position of the last refill.
    std::optional<int64_t> refilled;
    bool compared = true;  ///< false: took no part in the last step
  };
  CacheSpec spec_;
  std::vector<Row> rows_;
  int64_t refused_ = 0;
};

/// Runs `count` random verbs, all valid, on a cache and on its twin, and compares after each:
/// prefill, decode with any q and past the capacity, rows that sit out, reset, crop, reorder and
/// copy_row where the cache can.
void expect_random_sequence_equals_twin(KvCache& cache, uint32_t seed, int64_t count);

}  // namespace thaw
