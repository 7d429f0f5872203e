// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thaw {

/// The tables of docs/case-language.md, in Markdown, made from op_table.h and finding_kind.h.
std::string ops_markdown();
std::string keys_markdown();
std::string kinds_markdown();

}  // namespace thaw
