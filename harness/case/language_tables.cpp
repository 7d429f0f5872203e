// SPDX-License-Identifier: Apache-2.0
#include "case/language_tables.h"

#include <fmt/format.h>

#include "case/finding_kind.h"
#include "case/op_table.h"

namespace thaw {

std::string ops_markdown() {
  std::string text = "| op | what it does | needs | bounds |\n|---|---|---|---|\n";
  for (const OpRow& row : op_rows()) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", op_form(row), row.description,
                        row.precondition, op_bounds(row));
  }
  return text;
}

std::string keys_markdown() {
  std::string text = "| key | meaning | values | default |\n|---|---|---|---|\n";
  for (const KeyRow& key : key_rows()) {
    text += fmt::format("| `{}` | {} | {} | `{}` |\n", key.name, key.meaning, key_values(key),
                        key_value(key, Settings{}));
  }
  return text;
}

std::string kinds_markdown() {
  std::string text = "| kind | objects when |\n|---|---|\n";
  for (const FindingKindRow& row : finding_kinds()) {
    text += fmt::format("| `{}` | {} |\n", row.name, row.objects_when);
  }
  return text;
}

}  // namespace thaw
