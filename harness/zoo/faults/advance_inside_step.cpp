// SPDX-License-Identifier: Apache-2.0
//
// Follows mstar-project/mstar#56, where a reviewer found it.
//
// At the end of the forward pass the host advances the length that the cache reports. A capture
// runs that, and commits nothing; a replay does not run it.

#include <algorithm>

#include "cache/staged_integers.h"
#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class AdvanceInsideStep final : public PlanKeepingCache {
 public:
  explicit AdvanceInsideStep(const CacheSpec& spec)
      : PlanKeepingCache(spec), lengths_(1, spec.rows, spec.device) {
    std::ranges::fill(lengths_.host(0), 0);
  }

  void end_step() override {
    for (size_t place = 0; place < plan().rows.size(); ++place) {
      if (plan().rows[place] < 0) continue;
      int64_t& length = length_of(plan().rows[place]);
      length = std::min(length + plan().q_len, spec().slots);
    }
  }

  at::Tensor write_positions() const override {
    lengths_.upload();
    return lengths_.device(0, spec().rows);
  }

  void reset(std::span<const int64_t> rows) override {
    for (const int64_t row : rows) length_of(row) = 0;
    StaticCache::reset(rows);
  }
  void crop(int64_t row, int64_t length) override {
    length_of(row) = length;
    StaticCache::crop(row, length);
  }
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override {
    for (size_t row = 0; row < from.size(); ++row) {
      lengths_.host(0)[row] = lengths[static_cast<size_t>(from[row])];
    }
    StaticCache::reorder(from, lengths);
  }
  void copy_row(int64_t from, int64_t to, int64_t length) override {
    length_of(from) = length;
    length_of(to) = length;
    StaticCache::copy_row(from, to, length);
  }

 private:
  int64_t& length_of(int64_t row) { return lengths_.host(0)[static_cast<size_t>(row)]; }

  mutable StagedIntegers lengths_;
};

}  // namespace

Registry::MakeSubject advance_inside_step() { return made_of<AdvanceInsideStep>(); }

}  // namespace thaw::zoo
