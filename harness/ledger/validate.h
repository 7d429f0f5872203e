// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "cache/layout.h"
#include "case/case.h"

namespace thaw {

/// Checks every precondition of a case, in order, on the ledger, that its steps are not too large
/// for its decoder, and that its expects name ops and steps that exist. Throws CaseError for the
/// first that does not hold (R22, section 6). `layout` is that of the cache it is to run on (R9).
void validate_case(const Case& c, std::string_view file, Layout layout = Layout::linear);

}  // namespace thaw
