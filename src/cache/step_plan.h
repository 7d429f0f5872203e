// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace thaw {

/// What the caller knows, on the host, about the step that comes next.
///
/// A step has *places*; place i works on row rows[i] and its first token goes to positions[i].
/// A padded place has -1 in both: nothing is written for it and nothing is counted.
struct StepPlan {
  int64_t q_len = 1;               ///< tokens per place, at least 1
  std::vector<int64_t> rows;       ///< one per place: the row, or -1
  std::vector<int64_t> positions;  ///< one per place: the write position of the first token, or -1

  int64_t places() const { return static_cast<int64_t>(rows.size()); }
  bool operator==(const StepPlan&) const = default;
};

}  // namespace thaw
