// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "case/case.h"
#include "oracles/finding.h"

namespace thaw {

/// What one run of one case came to. Incomplete is never shown as clean.
struct Verdict {
  enum class Status { clean, findings, incomplete };

  std::string cache;
  std::string device;
  Status status = Status::clean;
  std::vector<Finding> findings;   ///< the first of each kind, in the language's order (R23)
  std::string incomplete_because;  ///< "the case needs the device cuda"

  std::vector<std::string> covered;  ///< oracles that judged
  /// Oracles that could not, and why.
  std::vector<std::pair<std::string, std::string>> not_covered;

  /// What comparisons with real arithmetic rest on; empty where all are exact.
  std::string comparison;

  int64_t ops = 0;
  int64_t steps = 0;  ///< eager passes and replays
  int64_t captures = 0;
  int64_t replays = 0;

  const Finding* find(FindingKind kind) const;
};

std::string_view to_string(Verdict::Status status);

/// Whether one expectation about this run holds: for a kind, that the first finding of that kind is
/// where the case says; for `clean`, that there is none (section 5 of the language).
bool holds(const Expect& expect, const Verdict& verdict);

}  // namespace thaw
