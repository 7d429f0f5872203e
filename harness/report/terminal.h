// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "case/case.h"
#include "oracles/finding.h"
#include "report/style.h"
#include "session/case_result.h"
#include "session/verdict.h"

namespace thaw {

/// Text for people. All of it is the same for the same case and build, reads well without colour,
/// and keeps to the style's width where words allow.

/// "ok          a.kv  counter:host_int: slots@3.2, static: clean": one line, however long.
/// `seconds`: with the time that it took.
std::string result_line(std::string_view name, const CaseResult& result, bool seconds,
                        const Style& style);

/// The expectations that did not hold or could not be judged, and what there was instead, a line
/// each; nothing if all held.
std::string broken_expectations(const CaseResult& result, const Style& style);

/// What comparisons with real arithmetic rested on, a line a run; nothing where all were exact.
std::string comparisons(const CaseResult& result, const Style& style);

/// What a clean verdict rests on: the device, the oracles that judged, and those that could not.
std::string coverage(const Verdict& verdict, const Style& style);

/// "clean", "slots@3.2 length@3.2", or why the run is incomplete.
std::string summary(const Verdict& verdict);

}  // namespace thaw
