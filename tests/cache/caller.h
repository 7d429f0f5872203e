// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cache/kv_cache.h"

namespace thaw {

/// The smallest caller of a cache: refills the plan and the entries of the next step in place, and
/// runs the step, eagerly or inside a capture. Entries are as entry_of says.
class Caller {
 public:
  explicit Caller(KvCache& cache);

  void refill(const StepPlan& plan, int64_t generation);
  /// What a captured step consists of; runs over what was refilled last.
  void run();
  /// Refill and run.
  void step(const StepPlan& plan, int64_t generation);

 private:
  /// Of one layer, [places, kv_heads, q_len, dim] on the device.
  at::Tensor entries(int64_t layer, Role role) const;
  void fill(int64_t layer, Role role);

  KvCache& cache_;
  std::vector<at::Tensor> keys_, values_;  ///< flat, large enough for any step; never move
  StepPlan plan_;
  int64_t generation_ = 0;
};

/// Which entry: of which row, at which position ...
struct EntryId {
  int64_t layer = 0, row = 0, head = 0, position = 0;
  Role role = Role::keys;
  std::string text() const;
};

/// What Caller writes there in a step of that generation.
std::vector<float> entry_of(const CacheSpec& spec, const EntryId& id, int64_t generation);

/// A copy of all keys and values, as they are when it is made.
class CacheContents {
 public:
  explicit CacheContents(const KvCache& cache);
  /// The entry where locate says that it lies; empty where it says that there is none.
  std::vector<float> at(const EntryId& id) const;
  /// In the copy, not in the cache.
  void put(const EntryId& id, const std::vector<float>& entry);
  /// The slots of `row` whose key in layer 0, head 0 is another than in `before`.
  std::vector<int64_t> slots_changed_since(const CacheContents& before, int64_t row) const;
  bool operator==(const CacheContents& other) const { return numbers_ == other.numbers_; }

 private:
  size_t element_index(const Place& place, int64_t element) const;

  const KvCache& cache_;

  std::vector<std::vector<float>> numbers_;  ///< per buffer; empty for other roles
  std::vector<int64_t> element_sizes_;
};

std::vector<int64_t> integers_of(const at::Tensor& tensor);
int64_t refused_by(const KvCache& cache);

}  // namespace thaw
