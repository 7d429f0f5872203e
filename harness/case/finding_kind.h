// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace thaw {

/// What a finding objects to, in the order in which findings of one step are reported (R23).
enum class FindingKind : uint8_t {
  error,
  refusal,
  liveness,
  addresses,
  canary,
  purity,
  slots,
  length,
  outputs,
  determinism,
  freeze,
  permutation,
  fresh,
};

/// The kinds in the order above, with their names in the language and a sentence each.
struct FindingKindRow {
  FindingKind kind;
  std::string_view name;
  std::string_view objects_when;
};
std::span<const FindingKindRow> finding_kinds();

std::string_view to_string(FindingKind kind);
std::optional<FindingKind> parse_finding_kind(std::string_view name);

/// All names with commas between, those that cases expect most often first; for messages.
std::string finding_kind_list();

}  // namespace thaw
