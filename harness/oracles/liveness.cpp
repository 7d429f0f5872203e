// SPDX-License-Identifier: Apache-2.0
//
// Oracle *liveness*.
//
// Verifies, for every graph that exists, that all memory its nodes refer to is still allocated, and
// was not freed and handed out anew since the capture. Judged at the op that freed it, not at the
// replay that would suffer (R19). Does not see memory that kernels reach through pointers stored in
// device memory, nor who overwrites what in a pool that graphs share. Needs a device that counts
// allocations exactly.

#include <fmt/format.h>

#include "oracles/oracle.h"

namespace thaw {
namespace {

std::string name_of(const CapturedGraph& captured, const MemoryUse& use) {
  for (const NamedMemory& named : captured.bound) {
    if (named.memory.address == use.address) return named.name;
  }
  return fmt::format("{} bytes of {} memory", use.bytes, use.host ? "pinned host" : "device");
}

class LivenessOracle final : public Oracle {
 public:
  std::string_view name() const override { return "liveness"; }

  std::optional<std::string> not_covered(const Subject& subject) const override {
    if (subject.device().abilities().exact_liveness) return {};
    return "the device does not tell which memory was freed";
  }

  void after(const Moment& moment, Findings& findings) override {
    if (findings.has(FindingKind::liveness)) return;
    for (const CapturedGraph& captured : moment.subject.graphs()) {
      if (captured.graph == nullptr) continue;
      for (const MemoryUse& use : captured.graph->memory()) {
        // The pool lives as long as the graph. Who shares it takes what a capture left behind
        // (rule 45), which is no fault until a graph relies on it; its outputs tell.
        if (use.own_pool) continue;
        const MemoryState state = moment.device().state(use);
        if (state == MemoryState::live) continue;
        findings.add({.kind = FindingKind::liveness,
                      .op = moment.op_number,
                      .step = moment.step,
                      .place = fmt::format("graph {}, {}", captured.name, name_of(captured, use)),
                      .expected = "allocated for as long as the graph lives",
                      .found = state == MemoryState::freed
                                   ? "freed"
                                   : "freed, and handed out to somebody else"});
        return;
      }
    }
  }
};

}  // namespace

std::unique_ptr<Oracle> make_liveness_oracle() { return std::make_unique<LivenessOracle>(); }

}  // namespace thaw
