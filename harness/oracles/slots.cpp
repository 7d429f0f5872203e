// SPDX-License-Identifier: Apache-2.0
//
// Oracle *slots*.
//
// Verifies after every step and op that all keys and values are, bit for bit, what the ledger says:
// each committed slot holds its entry, and no slot outside the op's write set changed (R7). Asks
// the cache where an entry lies, and knows no layout. Does not look at bytes that belong to no
// slot.

#include <fmt/format.h>

#include <algorithm>

#include "oracles/oracle.h"

namespace thaw {
namespace {

constexpr size_t mismatches_looked_at = 256;

/// Where the entry that is missing at `missing` lies instead; empty if nowhere.
std::string found_elsewhere(const ExpectedImage::Mismatch& missing,
                            const std::vector<ExpectedImage::Mismatch>& all) {
  const auto other = std::find_if(all.begin(), all.end(), [&](const auto& m) {
    return m.entry.role == missing.entry.role && m.found == missing.expected;
  });
  if (other == all.end()) return "";
  return fmt::format("; its entry lies at row {}, position {}", other->entry.row,
                     other->entry.position);
}

class SlotsOracle final : public Oracle {
 public:
  std::string_view name() const override { return "slots"; }

  void after(const Moment& moment, Findings& findings) override {
    if (moment.contents_match || findings.has(FindingKind::slots)) return;
    const auto mismatches = moment.image.mismatches(moment.device(), moment.cache_buffers,
                                                    moment.ledger, mismatches_looked_at);
    Finding finding{.kind = FindingKind::slots, .op = moment.op_number, .step = moment.step};
    if (mismatches.empty()) {
      finding.place = "keys and values";
      finding.expected = "no change outside the slots";
      finding.found = "bytes that belong to no slot changed, or a buffer has another size";
    } else {
      const ExpectedImage::Mismatch& first = mismatches.front();
      finding.place = to_string(first.entry);
      finding.expected = moment.reference.describe_entry(first.expected);
      finding.found =
          moment.reference.describe_entry(first.found) + found_elsewhere(first, mismatches);
    }
    findings.add(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<Oracle> make_slots_oracle() { return std::make_unique<SlotsOracle>(); }

}  // namespace thaw
