// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "session/case_result.h"
#include "session/graph_dumps.h"

namespace thaw {

/// Writes the graphs of one case into a folder, which is made if there is none: for each of them
/// CASE.CACHE.OP-GRAPH.txt and .dot, where CASE is the case's path with '/' as '_' and CACHE has
/// '_' for ':'. Files of the same names are replaced. Throws BadInput where that is not possible.
void write_graph_dumps(const std::string& folder, const std::string& case_file,
                       const CaseResult& result, const GraphDumps& dumps);

}  // namespace thaw
