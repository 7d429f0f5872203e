// SPDX-License-Identifier: Apache-2.0
//
// Oracle *addresses*.
//
// Verifies, for every graph that exists, that each buffer that the graph uses is still the one that
// cache, decoder and caller use under that name. Judged at the op that moved it (R19). Does not see
// buffers that their owner does not list in buffers().

#include <fmt/format.h>

#include <algorithm>

#include "oracles/oracle.h"

namespace thaw {
namespace {

bool same_memory(const MemoryUse& a, const MemoryUse& b) {
  return a.address == b.address && a.generation == b.generation;
}

class AddressesOracle final : public Oracle {
 public:
  std::string_view name() const override { return "addresses"; }

  void after(const Moment& moment, Findings& findings) override {
    if (moment.subject.graphs().empty() || findings.has(FindingKind::addresses)) return;
    const std::vector<NamedMemory> now = moment.subject.named_memory();
    for (const CapturedGraph& captured : moment.subject.graphs()) {
      for (const NamedMemory& bound : captured.bound) {
        const auto current = std::find_if(
            now.begin(), now.end(), [&](const NamedMemory& n) { return n.name == bound.name; });
        const bool gone = current == now.end();
        if (!gone && same_memory(current->memory, bound.memory)) continue;
        findings.add({.kind = FindingKind::addresses,
                      .op = moment.op_number,
                      .step = moment.step,
                      .place = fmt::format("graph {}, {}", captured.name, bound.name),
                      .expected = "the buffer that the graph was captured on",
                      .found = gone ? "no buffer of that name any more" : "another buffer"});
        return;
      }
    }
  }
};

}  // namespace

std::unique_ptr<Oracle> make_addresses_oracle() { return std::make_unique<AddressesOracle>(); }

}  // namespace thaw
