// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "case/case_text.h"

namespace thaw {
namespace {

std::string whole_message(std::string_view file, SourcePosition position,
                          std::string_view message) {
  // A case that was made by a program has no text to point into.
  if (position.line == 0) return fmt::format("{}: {}", file, message);
  return fmt::format("{}:{}:{}: {}", file, position.line, position.column, message);
}

}  // namespace

CaseError::CaseError(std::string_view file, SourcePosition position, std::string_view message)
    : std::runtime_error(whole_message(file, position, message)), position_(position) {}

}  // namespace thaw
