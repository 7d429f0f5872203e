// SPDX-License-Identifier: Apache-2.0
#include "cache/step_positions.h"

#include <algorithm>

#include "cache/checks.h"

namespace thaw {

StepPositions::StepPositions(const CacheSpec& spec)
    : spec_(spec), table_(3, spec.rows, spec.device) {
  std::ranges::fill(table_.host(report_line), 0);
  table_.upload();
}

void StepPositions::refill(const StepPlan& plan) {
  note(plan);
  table_.upload();
}

void StepPositions::note(const StepPlan& plan) {
  check_plan(spec_, plan);
  const std::span rows = table_.host(row_line);
  const std::span positions = table_.host(position_line);
  const std::span report = table_.host(report_line);
  std::ranges::fill(rows, -1);
  std::ranges::fill(positions, -1);
  for (size_t place = 0; place < plan.rows.size(); ++place) {
    rows[place] = plan.rows[place];
    positions[place] = plan.positions[place];
    const bool padded = rows[place] == -1 || positions[place] == -1;
    if (!padded) report[static_cast<size_t>(rows[place])] = positions[place];
  }
}

void StepPositions::reset(std::span<const int64_t> rows) {
  for (const int64_t row : rows) check_row(spec_, row);
  for (const int64_t row : rows) table_.host(report_line)[static_cast<size_t>(row)] = 0;
  table_.upload();
}

void StepPositions::crop(int64_t row, int64_t length) {
  check_row(spec_, row);
  check_length(spec_, length);
  table_.host(report_line)[static_cast<size_t>(row)] = length;
  table_.upload();
}

void StepPositions::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  check_reorder(spec_, from, lengths);
  std::ranges::transform(from, table_.host(report_line).begin(),
                         [&](int64_t row) { return lengths[static_cast<size_t>(row)]; });
  table_.upload();
}

void StepPositions::copy_row(int64_t from, int64_t to, int64_t length) {
  check_row(spec_, from);
  check_row(spec_, to);
  check_length(spec_, length);
  const std::span report = table_.host(report_line);
  report[static_cast<size_t>(from)] = length;
  report[static_cast<size_t>(to)] = length;
  table_.upload();
}

}  // namespace thaw
