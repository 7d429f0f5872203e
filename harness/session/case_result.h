// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "case/case.h"
#include "session/session.h"
#include "session/verdict.h"

namespace thaw {

/// What became of one expectation. Unknown: its run was incomplete, or nothing judged the kind.
enum class Held { yes, no, unknown };

struct ExpectResult {
  Expect expect;
  size_t run = 0;  ///< index into CaseResult::runs
  Held held = Held::unknown;
};

struct CaseRun {
  Verdict verdict;
  double seconds = 0;  ///< wall time; the only thing that differs from run to run
};

/// A case, all the runs that its expects ask for, and what they come to (section 5 of the
/// language).
struct CaseResult {
  enum class Outcome {
    ok,          ///< every expectation held; without any: clean
    failed,      ///< one did not hold; without any: findings
    incomplete,  ///< nothing failed, but a run or an expectation could not be judged
  };

  std::vector<CaseRun> runs;          ///< the case's own cache first
  std::vector<ExpectResult> expects;  ///< those that speak of these runs, in the case's order
  Outcome outcome = Outcome::ok;
};

/// Without options.cache: runs the case's own cache and every cache named in an expect, and judges
/// all expects. With it: runs that cache alone and judges the expects that speak of it, which are
/// those that name it and, if it is the case's own, those that name none. Where no expect speaks of
/// the runs, findings decide. Throws like run_case.
CaseResult run_with_expects(const Case& c, Device& device, const Registry& registry,
                            const RunOptions& options = {});

/// The text that holds an unknown cache's name, and the sentence for it; nothing if all caches that
/// run_with_expects would run are registered.
struct UnknownCacheName {
  const Line<Expect>* expect = nullptr;  ///< null: the case's own
  std::string message;
};
std::optional<UnknownCacheName> find_unknown_cache(const Case& c, const Registry& registry);

std::string_view to_string(CaseResult::Outcome outcome);
std::string_view to_string(Kernels kernels);
std::optional<Kernels> parse_kernels(std::string_view name);

}  // namespace thaw
