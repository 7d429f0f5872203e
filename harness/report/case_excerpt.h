// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "case/case.h"
#include "oracles/finding.h"
#include "report/style.h"

namespace thaw {

/// The settings of a case and its ops with their numbers, up to the last finding; beside each op
/// the findings that begin there, and a mark at the first of all. Of a long case the first ops, the
/// captures and the ops before each finding are shown.
///      cache counter:host_int
///   1  prefill 0 5
///   2  capture g
/// > 3  replay g x3               <- slots, step 2
std::string case_excerpt(const Case& c, const std::vector<Finding>& findings, const Style& style);

}  // namespace thaw
