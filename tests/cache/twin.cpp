// SPDX-License-Identifier: Apache-2.0
#include "cache/twin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "cache/caller.h"

namespace thaw {

TwinCache::TwinCache(const CacheSpec& spec) : spec_(spec), rows_(static_cast<size_t>(spec.rows)) {}

void TwinCache::step(const StepPlan& plan, int64_t generation) {
  for (Row& row : rows_) row.compared = false;
  for (size_t place = 0; place < plan.rows.size(); ++place) {
    if (plan.rows[place] < 0) continue;
    Row& row = rows_[static_cast<size_t>(plan.rows[place])];
    row.compared = true;
    row.refilled = plan.positions[place];
    for (int64_t token = 0; token < plan.q_len; ++token) {
      if (std::ssize(row.entries) < spec_.slots) {
        row.entries.push_back({generation, plan.rows[place]});
      } else {
        ++refused_;
      }
    }
  }
}

void TwinCache::reset(const std::vector<int64_t>& rows) {
  for (const int64_t row : rows) rows_[static_cast<size_t>(row)] = {};
}

void TwinCache::crop(int64_t row, int64_t length) {
  Row& cropped = rows_[static_cast<size_t>(row)];
  cropped.entries.resize(static_cast<size_t>(length));
  cropped = {cropped.entries, std::nullopt, true};
}

void TwinCache::reorder(const std::vector<int64_t>& from) {
  const std::vector<Row> old = rows_;
  for (size_t row = 0; row < rows_.size(); ++row) {
    rows_[row] = {old[static_cast<size_t>(from[row])].entries, std::nullopt, true};
  }
}

void TwinCache::copy_row(int64_t from, int64_t to) {
  Row& source = rows_[static_cast<size_t>(from)];
  source = {source.entries, std::nullopt, true};
  rows_[static_cast<size_t>(to)] = source;
}

std::vector<int64_t> TwinCache::lengths() const {
  std::vector<int64_t> lengths;
  for (const Row& row : rows_) lengths.push_back(std::ssize(row.entries));
  return lengths;
}

void TwinCache::expect_equal(const KvCache& cache) const {
  const CacheContents contents(cache);
  const std::vector<int64_t> write_positions = integers_of(cache.write_positions());
  for (size_t i = 0; i < rows_.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    const auto& entries = rows_[i].entries;
    for (size_t layer = 0; layer < spec_.layers.size(); ++layer) {
      for (int64_t head = 0; head < spec_.layers[layer].kv_heads; ++head) {
        for (size_t position = 0; position < entries.size(); ++position) {
          for (const Role role : {Role::keys, Role::values}) {
            const EntryId id{static_cast<int64_t>(layer), row, head, static_cast<int64_t>(position),
                             role};
            EntryId written = id;
            written.row = entries[position].row;
            EXPECT_EQ(contents.at(id), entry_of(spec_, written, entries[position].generation))
                << id.text();
          }
        }
      }
    }
    if (!rows_[i].compared) continue;
    const auto length = std::ssize(entries);
    EXPECT_THAT(write_positions[i], testing::AnyOf(length, rows_[i].refilled.value_or(length)))
        << "row " << row;
  }
  EXPECT_EQ(refused_by(cache), refused_);
}

namespace {

/// Draws valid verbs and applies them to a cache and its twin.
class RandomSequence {
 public:
  RandomSequence(KvCache& cache, uint32_t seed)
      : cache_(cache), spec_(cache.spec()), caller_(cache), twin_(spec_), random_(seed) {}

  void apply_one(int64_t generation) {
    switch (below(8)) {
      case 0:
        return reset();
      case 1:
        return crop();
      case 2:
        return reorder();
      case 3:
        return copy();
      default:
        return step(generation);
    }
  }

  const TwinCache& twin() const { return twin_; }

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint32_t>(bound));
  }
  int64_t any_row() { return below(spec_.rows); }
  int64_t length(int64_t row) { return twin_.lengths()[static_cast<size_t>(row)]; }

  // The places are a rotation of the rows, some of them padded, so that place i may be any row.
  void step(int64_t generation) {
    StepPlan plan;
    plan.q_len = 1 + below(spec_.q_len_max);
    const int64_t places = 1 + below(spec_.rows);
    const int64_t first = any_row();
    for (int64_t place = 0; place < places; ++place) {
      const int64_t row = (first + place) % spec_.rows;
      const bool padded = below(4) == 0;
      plan.rows.push_back(padded ? -1 : row);
      plan.positions.push_back(padded ? -1 : length(row));
    }
    caller_.step(plan, generation);
    twin_.step(plan, generation);
  }

  void reset() {
    const std::vector<int64_t> rows{any_row()};
    cache_.reset(rows);
    twin_.reset(rows);
  }

  void crop() {
    if (!cache_.abilities().crop) return;
    const int64_t row = any_row();
    const int64_t kept = below(length(row) + 1);
    cache_.crop(row, kept);
    twin_.crop(row, kept);
  }

  void reorder() {
    if (!cache_.abilities().reorder) return;
    std::vector<int64_t> from;
    for (int64_t row = 0; row < spec_.rows; ++row) from.push_back(any_row());
    cache_.reorder(from, twin_.lengths());
    twin_.reorder(from);
  }

  void copy() {
    if (!cache_.abilities().copy_row) return;
    const int64_t from = any_row();
    const int64_t to = any_row();
    if (from == to) return;
    cache_.copy_row(from, to, length(from));
    twin_.copy_row(from, to);
  }

  KvCache& cache_;
  CacheSpec spec_;
  Caller caller_;
  TwinCache twin_;
  std::mt19937 random_;
};

}  // namespace

void expect_random_sequence_equals_twin(KvCache& cache, uint32_t seed, int64_t count) {
  RandomSequence sequence(cache, seed);
  for (int64_t i = 1; i <= count; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", verb " + std::to_string(i));
    sequence.apply_one(i);
    sequence.twin().expect_equal(cache);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace thaw
