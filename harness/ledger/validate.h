// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "case/case.h"

namespace thaw {

/// Checks every precondition of a case, in order, on the ledger, and that its expects name ops and
/// steps that exist. Throws CaseError for the first that does not hold (R22, section 6).
void validate_case(const Case& c, std::string_view file);

}  // namespace thaw
