// SPDX-License-Identifier: Apache-2.0
#include "cache/checks.h"

#include <stdexcept>
#include <string>

namespace thaw {
namespace {

using std::to_string;

void check_range(const std::string& what, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  throw std::invalid_argument(what + " must be " + to_string(low) + " to " + to_string(high) +
                              ", found " + to_string(value));
}

void check_positive(const std::string& what, int64_t value) {
  if (value >= 1) return;
  throw std::invalid_argument(what + " must be at least 1, found " + to_string(value));
}

void check_count(const std::string& what, size_t found, int64_t expected) {
  if (static_cast<int64_t>(found) == expected) return;
  throw std::invalid_argument(what + " must be " + to_string(expected) + ", found " +
                              to_string(found));
}

}  // namespace

void check_spec(const CacheSpec& spec) {
  check_positive("rows", spec.rows);
  check_positive("slots", spec.slots);
  check_positive("q_len_max", spec.q_len_max);
  check_positive("number of layers", static_cast<int64_t>(spec.layers.size()));
  for (const LayerSpec& layer : spec.layers) {
    check_positive("kv_heads", layer.kv_heads);
    check_positive("key_dim", layer.key_dim);
    check_positive("value_dim", layer.value_dim);
  }
}

void check_plan(const CacheSpec& spec, const StepPlan& plan) {
  check_range("number of places", plan.places(), 1, spec.rows);
  check_range("q_len", plan.q_len, 1, spec.q_len_max);
  check_count("number of positions", plan.positions.size(), plan.places());
  for (const int64_t row : plan.rows) check_range("row of a place", row, -1, spec.rows - 1);
}

void check_row(const CacheSpec& spec, int64_t row) { check_range("row", row, 0, spec.rows - 1); }

void check_length(const CacheSpec& spec, int64_t length) {
  check_range("length", length, 0, spec.slots);
}

void check_reorder(const CacheSpec& spec, std::span<const int64_t> from,
                   std::span<const int64_t> lengths) {
  check_count("number of rows to take from", from.size(), spec.rows);
  check_count("number of lengths", lengths.size(), spec.rows);
  for (const int64_t row : from) check_row(spec, row);
  for (const int64_t length : lengths) check_length(spec, length);
}

}  // namespace thaw
