// SPDX-License-Identifier: Apache-2.0
#include "case/finding_kind.h"

#include <array>

namespace thaw {
namespace {

constexpr std::array<FindingKindRow, 13> rows{{
    {FindingKind::error, "error",
     "the device reported an error outside a capture: an illegal address, an index out of range, "
     "an error that sticks"},
    {FindingKind::refusal, "refusal", "the device refused a capture"},
    {FindingKind::liveness, "liveness", "a graph refers to device or host memory that was freed"},
    {FindingKind::addresses, "addresses",
     "a buffer that a graph uses is no longer the one that the cache, the decoder or the caller "
     "uses under that name"},
    {FindingKind::canary, "canary",
     "memory that belongs to nobody in the subject was overwritten: churned blocks, guard bytes "
     "around buffers and scratch"},
    {FindingKind::purity, "purity",
     "an op that commits nothing changed committed slots, lengths, or inputs other than by the "
     "refill before a step; or any op changed a constant"},
    {FindingKind::slots, "slots",
     "a committed slot does not hold the tag that the ledger says, or a slot outside the write "
     "set changed"},
    {FindingKind::length, "length",
     "the cache's write position of a row of the last batch is neither the ledger's length nor the "
     "position of the last refill (after reset, crop, reorder and copy only the length will do), "
     "or the count of refused entries differs"},
    {FindingKind::outputs, "outputs",
     "the output of an accepted token differs from the reference, or a held output changed"},
    {FindingKind::determinism, "determinism",
     "the same case again, or replayed in another legal order, gave other bits"},
    {FindingKind::freeze, "freeze", "two captures of one step differ in a host value"},
    {FindingKind::permutation, "permutation", "permuted rows did not give permuted results"},
    {FindingKind::fresh, "fresh", "after reset the same ops gave other bits than in a new cache"},
}};

constexpr bool rows_follow_the_enumeration() {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<size_t>(rows[i].kind) != i) return false;
  }
  return true;
}
static_assert(rows_follow_the_enumeration());

}  // namespace

std::span<const FindingKindRow> finding_kinds() { return rows; }

std::string_view to_string(FindingKind kind) { return rows[static_cast<size_t>(kind)].name; }

std::optional<FindingKind> parse_finding_kind(std::string_view name) {
  for (const FindingKindRow& row : rows) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

std::string finding_kind_list() {
  using enum FindingKind;
  constexpr std::array<FindingKind, rows.size()> listed{
      slots,  outputs,     length,      addresses, liveness, purity, freeze,
      canary, determinism, permutation, fresh,     refusal,  error};
  std::string list;
  for (const FindingKind kind : listed) {
    if (!list.empty()) list += ", ";
    list += to_string(kind);
  }
  return list;
}

}  // namespace thaw
