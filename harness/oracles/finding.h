// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "case/finding_kind.h"

namespace thaw {

/// One objection.
struct Finding {
  FindingKind kind = FindingKind::error;
  int64_t op = 0;        ///< number of the op, from 1
  int64_t step = 0;      ///< step within the op, from 1; 0: the op makes no steps
  std::string place;     ///< "layer 0, row 1, head 0, position 7, keys"
  std::string expected;  ///< decoded from tags where there are any
  std::string found;
  int code = 0;  ///< the device's error number, for refusal and error
};

/// "slots@4.2": kind, op and, where the op makes steps, the step.
std::string headline(const Finding& finding);

/// Why findings of a kind usually happen, and what to do. One wording, wherever it is printed.
struct Explanation {
  std::string_view cause;
  std::string_view remedy;
};
Explanation explain(FindingKind kind);

/// The first finding of each kind (R23).
class Findings {
 public:
  bool has(FindingKind kind) const { return (seen_ & bit(kind)) != 0; }
  bool empty() const { return first_.empty(); }
  /// Keeps `finding` if it is the first of its kind.
  void add(Finding finding);
  /// The verdict's order: by op and step, within one step by kind.
  std::vector<Finding> in_order() const;

 private:
  static uint32_t bit(FindingKind kind) { return uint32_t{1} << static_cast<unsigned>(kind); }
  uint32_t seen_ = 0;
  std::vector<Finding> first_;
};

}  // namespace thaw
