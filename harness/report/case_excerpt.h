// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "case/case.h"
#include "oracles/finding.h"
#include "report/style.h"
#include "session/failure_scene.h"

namespace thaw {

/// The settings of a case and its ops with their numbers, up to the last finding; beside each op
/// what the ledger has after it, the findings that begin there, and a mark at the first of all. The
/// ledger's part is the length of each row ("-": idle, "p5": parked) and what the op's steps put
/// where. Of a long case the first ops, the captures and the ops before each finding are shown.
///      cache counter:host_int
///   1  prefill 0 5    5  row 0: 0 to 4
///   2  capture g      5
/// > 3  replay g x3    8  row 0: 5 to 7   <- slots, step 2
/// `scene`: null leaves the ledger out.
std::string case_excerpt(const Case& c, const std::vector<Finding>& findings,
                         const FailureScene* scene, const Style& style);

}  // namespace thaw
