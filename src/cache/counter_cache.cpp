// SPDX-License-Identifier: Apache-2.0
#include "cache/counter_cache.h"

#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "cache/checks.h"

namespace thaw {
namespace {

// Lines of the plan.
constexpr int64_t row_line = 0;     ///< per place: its row, or -1
constexpr int64_t source_line = 1;  ///< per place: where RowCounter::load holds its position
constexpr int64_t flag_line = 2;    ///< per row: 1 if it takes part
constexpr int64_t line_count = 3;

}  // namespace

CounterCache::CounterCache(CacheSpec spec, CounterMode mode)
    : spec_(std::move(spec)),
      storage_(spec_),
      plan_(line_count, spec_.rows + 1, spec_.device),
      positions_(
          at::full({spec_.rows}, -1, at::TensorOptions().dtype(at::kLong).device(spec_.device))),
      refused_(spec_),
      counter_(make_row_counter(mode, spec_)) {}

CounterCache::~CounterCache() = default;

void CounterCache::prepare(const StepPlan& plan) {
  check_plan(spec_, plan);
  const std::span rows = plan_.host(row_line);
  const std::span sources = plan_.host(source_line);
  const std::span flags = plan_.host(flag_line);
  std::ranges::fill(rows, -1);
  std::ranges::fill(sources, spec_.rows);
  std::ranges::fill(flags, 0);
  participants_.clear();
  for (size_t place = 0; place < plan.rows.size(); ++place) {
    const int64_t row = plan.rows[place];
    if (row < 0) continue;
    rows[place] = row;
    sources[place] = row;
    flags[static_cast<size_t>(row)] = 1;
    participants_.push_back(row);
  }
  plan_.upload();
}

void CounterCache::begin_step(int64_t places, int64_t q_len) {
  step_rows_ = plan_.device(row_line, places);
  step_positions_ = positions_.narrow(0, 0, places);
  q_len_ = q_len;
  at::index_select_out(step_positions_, counter_->load(), 0, plan_.device(source_line, places));
  refused_.add(step_rows_, step_positions_, q_len);
}

KeysValues CounterCache::update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  storage_.append(layer, keys, values, step_rows_, step_positions_);
  return storage_.view(layer);
}

void CounterCache::end_step() {
  counter_->advance({participants_, plan_.device(flag_line, spec_.rows + 1)}, q_len_);
}

at::Tensor CounterCache::write_positions() const { return counter_->report(); }

void CounterCache::reset(std::span<const int64_t> rows) {
  for (const int64_t row : rows) check_row(spec_, row);
  for (const int64_t row : rows) counter_->set(row, 0);
}

void CounterCache::crop(int64_t row, int64_t length) {
  check_row(spec_, row);
  check_length(spec_, length);
  counter_->set(row, length);
}

void CounterCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  check_reorder(spec_, from, lengths);
  counter_->gather(from);
  storage_.reorder(from);
}

void CounterCache::copy_row(int64_t from, int64_t to, int64_t length) {
  check_row(spec_, from);
  check_row(spec_, to);
  check_length(spec_, length);
  std::vector<int64_t> sources(static_cast<size_t>(spec_.rows));
  std::iota(sources.begin(), sources.end(), 0);
  sources[static_cast<size_t>(to)] = from;
  counter_->gather(sources);
  storage_.copy_row(from, to);
}

std::vector<Buffer> CounterCache::buffers() const {
  std::vector<Buffer> buffers = storage_.buffers();
  buffers.push_back({"plan", Role::position, -1, plan_.device()});
  buffers.push_back({"positions", Role::position, -1, positions_});
  buffers.push_back(refused_.buffer());
  for (Buffer& buffer : counter_->buffers()) buffers.push_back(std::move(buffer));
  return buffers;
}

std::vector<uint64_t> CounterCache::host_state() const { return counter_->host_state(); }

}  // namespace thaw
