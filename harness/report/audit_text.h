// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "audit/audit.h"
#include "report/json.h"
#include "report/style.h"

namespace thaw {

/// What was frozen, node by node, or what being clean means here and what it does not prove.
///   q_len 1, node 2 of 4: thaw::append_
///     argument    A         B         follows
///     positions   [5, 5]    [7, 7]    the position
std::string audit_text(const Audit& audit, const Style& style);

/// One audit: `audit` of docs/schema/audit.schema.json.
Json to_json(const Audit& audit);

}  // namespace thaw
