// SPDX-License-Identifier: Apache-2.0
//
// Oracle *length*.
//
// Verifies that the cache's write position is the ledger's length or the position of the last
// refill, after reset, crop, reorder and copy the ledger's length alone, and that the cache's count
// of refused entries is the ledger's (R8). Does not compare rows that are idle or were padded in
// the last step, nor the count of a cache that keeps none.

#include <fmt/format.h>

#include "oracles/lengths.h"
#include "oracles/oracle.h"

namespace thaw {
namespace {

class LengthOracle final : public Oracle {
 public:
  std::string_view name() const override { return "length"; }

  void after(const Moment& moment, Findings& findings) override {
    if (findings.has(FindingKind::length)) return;
    Finding finding{.kind = FindingKind::length, .op = moment.op_number, .step = moment.step};
    if (const auto wrong = find_wrong_length(moment)) {
      finding.place = fmt::format("row {}", wrong->row);
      finding.expected = fmt::format("length {}", wrong->ledger);
      finding.found = fmt::format("write position {}", wrong->found);
      findings.add(std::move(finding));
      return;
    }
    const auto refused = refused_by_cache(moment);
    if (!refused || *refused == moment.ledger.refused()) return;
    finding.place = "refused entries";
    finding.expected = fmt::format("{}", moment.ledger.refused());
    finding.found = fmt::format("{}", *refused);
    findings.add(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<Oracle> make_length_oracle() { return std::make_unique<LengthOracle>(); }

}  // namespace thaw
