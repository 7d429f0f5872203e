// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "case/case.h"
#include "session/session.h"

namespace thaw {

/// What a finding needs of its case, found by trying: the case is run again without one op at a
/// time, and with another value for one setting at a time.
struct Necessity {
  std::vector<int64_t> needed_ops;      ///< numbers, from 1; without one of them it is gone
  std::vector<int64_t> not_needed_ops;  ///< without any one of them it still happens
  std::vector<std::string> any_value;   ///< settings of which every other value tried has it, too
  std::vector<std::string> needed_values;  ///< settings: with every other value tried it is gone
  int64_t runs = 0;
};

/// Tries the case up to the op of `finding`, with `options.cache`; it counts as the same finding if
/// it is of the same kind, wherever it is. At most `runs_max` runs: ops that do not fit are in
/// neither list.
Necessity find_necessity(const Case& c, const Finding& finding, Device& device,
                         const Registry& registry, const RunOptions& options,
                         int64_t runs_max = 200);

/// The case without the ops after `op` and without its expects.
Case cut_after(const Case& c, int64_t op);

}  // namespace thaw
