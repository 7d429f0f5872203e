// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/audit.h"
#include "case/case.h"
#include "report/json.h"
#include "report/style.h"
#include "session/failure_scene.h"
#include "session/necessity.h"
#include "session/verdict.h"

namespace thaw {

/// What is known about a run with findings beyond its verdict.
struct Investigation {
  FailureScene scene;
  Necessity necessity;
  std::optional<Audit> audit;  ///< of the case's settings; none where the device tells no arguments
};

/// Runs the case again under observation, and variants of it. `verdict` has findings.
Investigation investigate(const Case& c, const Verdict& verdict, Device& device,
                          const Registry& registry, const RunOptions& options);

/// The finding that explains most, which need not be the first in time: a frozen counter is told by
/// the slot that it writes, although its length went wrong at the capture.
const Finding& leading_finding(const Verdict& verdict);

/// "slots@3.2", then place, expected, found, usual cause and remedy, a line each.
std::string describe_finding(const Finding& finding, const Style& style);

/// The report of a run that has findings, in at most 60 lines of the style's width, unless the case
/// itself is longer: what is wrong, the ops with the ledger beside them, a picture of the row's
/// slots, what is known to be frozen, the usual cause and remedy, what matters, `repeat`, and a
/// test to paste. The same for the same case and build, and complete without colour.
std::string failure_report(const Case& c, const Verdict& verdict,
                           const Investigation& investigation, std::string_view repeat,
                           const Style& style);

/// The same content: `report` of docs/schema/verdict.schema.json.
Json failure_json(const Case& c, const Verdict& verdict, const Investigation& investigation,
                  std::string_view repeat);

/// A GoogleTest with the case, up to the leading finding, that fails as the case does. Compiles as
/// it stands, linked with thaw's rooms.
std::string test_to_paste(const Case& c, const Verdict& verdict);

}  // namespace thaw
