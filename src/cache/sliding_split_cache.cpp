// SPDX-License-Identifier: Apache-2.0
#include "cache/sliding_split_cache.h"

#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>

#include "cache/checks.h"

namespace thaw {
namespace {

// Lines of the plan.
constexpr int64_t row_line = 0;     ///< per place: its row, or -1
constexpr int64_t source_line = 1;  ///< per place: where RowCounter::load holds its position
constexpr int64_t flag_line = 2;    ///< per row: 1 if it takes part
constexpr int64_t line_count = 3;

}  // namespace

SlidingSplitCache::SlidingSplitCache(const CacheSpec& spec)
    : spec_(rolling_spec(spec)),
      rows_(spec_),
      plan_(line_count, spec_.rows + 1, spec_.device),
      counter_(make_row_counter(CounterMode::device_in_place, without_capacity(spec_))),
      counts_(static_cast<size_t>(spec_.rows), 0),
      moves_(at::zeros({2, spec_.rows + 1},
                       at::TensorOptions().dtype(at::kLong).device(spec_.device))) {}

SlidingSplitCache::~SlidingSplitCache() = default;

void SlidingSplitCache::prepare(const StepPlan& plan) {
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

void SlidingSplitCache::begin_step(int64_t places, int64_t q_len) {
  q_len_ = q_len;
  const at::Tensor first = counter_->load().index_select(0, plan_.device(source_line, places));
  const at::Tensor rows = plan_.device(row_line, places);
  const auto overflows = [&](int64_t row) {
    return counts_[static_cast<size_t>(row)] + q_len > spec_.slots;
  };
  moves_.zero_();
  // This branch is host code: a capture records the side that it takes.
  if (std::ranges::any_of(participants_, overflows)) {
    for (const int64_t row : participants_) {
      const int64_t count = counts_[static_cast<size_t>(row)];
      const int64_t before = std::max<int64_t>(count - spec_.slots, 0);
      const int64_t after = std::max<int64_t>(count + q_len - spec_.slots, 0);
      moves_[0][row].fill_(after - before);
      moves_[1][row].fill_(after);
    }
    rows_.shift(moves_[0].narrow(0, 0, spec_.rows));
  }
  rows_.map(moves_[1].narrow(0, 0, spec_.rows));
  const at::Tensor oldest = moves_[1].index_select(0, plan_.device(source_line, places));
  const at::Tensor slots = first.sub(oldest).unsqueeze(1).add(rows_.count_up(q_len));
  rows_.aim(rows, at::where(rows.lt(0).unsqueeze(1), -1, slots));
}

KeysValues SlidingSplitCache::update(int64_t layer, const at::Tensor& keys,
                                     const at::Tensor& values) {
  rows_.append(layer, keys, values);
  return rows_.view(layer);
}

void SlidingSplitCache::end_step() {
  counter_->advance({participants_, plan_.device(flag_line, spec_.rows + 1)}, q_len_);
  for (const int64_t row : participants_) counts_[static_cast<size_t>(row)] += q_len_;
}

void SlidingSplitCache::reset(std::span<const int64_t> rows) {
  for (const int64_t row : rows) check_row(spec_, row);
  for (const int64_t row : rows) crop(row, 0);
}

void SlidingSplitCache::crop(int64_t row, int64_t length) {
  check_row(spec_, row);
  check_length(spec_, length);
  counter_->set(row, length);
  counts_[static_cast<size_t>(row)] = length;
}

void SlidingSplitCache::gather(std::span<const int64_t> from) {
  counter_->gather(from);
  const std::vector<int64_t> before = counts_;
  std::ranges::transform(from, counts_.begin(),
                         [&](int64_t row) { return before[static_cast<size_t>(row)]; });
}

void SlidingSplitCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  check_reorder(without_capacity(spec_), from, lengths);
  gather(from);
  rows_.reorder(from);
}

void SlidingSplitCache::copy_row(int64_t from, int64_t to, int64_t length) {
  check_row(spec_, from);
  check_row(spec_, to);
  check_length(without_capacity(spec_), length);
  std::vector<int64_t> sources(static_cast<size_t>(spec_.rows));
  std::iota(sources.begin(), sources.end(), 0);
  sources[static_cast<size_t>(to)] = from;
  gather(sources);
  rows_.copy_row(from, to);
}

std::vector<Buffer> SlidingSplitCache::buffers() const {
  std::vector<Buffer> buffers = rows_.buffers();
  buffers.push_back({"plan", Role::position, -1, plan_.device()});
  buffers.push_back({"moves", Role::scratch, -1, moves_});
  for (Buffer& buffer : counter_->buffers()) buffers.push_back(std::move(buffer));
  return buffers;
}

std::vector<uint64_t> SlidingSplitCache::host_state() const {
  return {counts_.begin(), counts_.end()};
}

}  // namespace thaw
