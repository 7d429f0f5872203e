// SPDX-License-Identifier: Apache-2.0
#include "oracles/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace thaw {

std::string headline(const Finding& finding) {
  if (finding.step == 0) return fmt::format("{}@{}", to_string(finding.kind), finding.op);
  return fmt::format("{}@{}.{}", to_string(finding.kind), finding.op, finding.step);
}

Explanation explain(FindingKind kind) {
  switch (kind) {
    case FindingKind::error:
      return {
          "a kernel of the step read an index or an address that was not valid any more",
          "look at what the failing operation reads: a length, an index or a pointer of capture "
          "time"};
    case FindingKind::refusal:
      return {
          "the step does something that a capture cannot record: it waits for the device, reads "
          "a value back, or copies from pageable memory",
          "keep the value in device memory; do host work in prepare(), before the capture"};
    case FindingKind::liveness:
      return {
          "a tensor that the captured step uses was replaced or freed; the graph keeps its raw "
          "address",
          "allocate once, and update in place: copy_ and add_, not assignment"};
    case FindingKind::addresses:
      return {"a buffer was rebound to a new tensor; the graph goes on with the old one",
              "allocate once, and update in place: copy_ and add_, not assignment"};
    case FindingKind::canary:
      return {"a replay wrote through an address that belongs to somebody else now",
              "keep alive, for as long as the graph lives, all memory that its nodes refer to"};
    case FindingKind::purity:
      return {
          "state moved in an op that commits nothing: a counter advances with every pass, or "
          "with the host code of a capture",
          "take the write position from the caller, in a tensor at a fixed address"};
    case FindingKind::slots:
      return {
          "the write position was a host value at the capture, or a counter of the cache's own "
          "that disagrees with the caller's",
          "take the write position from the caller, in a tensor at a fixed address, refilled "
          "before every replay"};
    case FindingKind::length:
      return {
          "the cache counts for itself, and replays or warm-ups moved its count otherwise than "
          "the sequence",
          "take the write position from the caller, in a tensor at a fixed address"};
    case FindingKind::outputs:
      return {
          "attention saw other entries than those of the row's length: a mask, a length or a "
          "branch of capture time",
          "derive the mask on the device from the positions that are refilled before each replay"};
    case FindingKind::determinism:
      return {"two nodes touch the same memory and nothing orders them",
              "join side streams with an event before the next reader"};
    case FindingKind::freeze:
      return {"a host value of capture time is an argument of a node",
              "put it into device memory, and refill it before each replay"};
    case FindingKind::permutation:
      return {"a row's result depends on where in the batch it stands",
              "index everything by the row, not by the place"};
    case FindingKind::fresh:
      return {"reset left something behind",
              "clear lengths and counters together with the contents"};
  }
  return {};
}

void Findings::add(Finding finding) {
  if (has(finding.kind)) return;
  seen_ |= bit(finding.kind);
  first_.push_back(std::move(finding));
}

std::vector<Finding> Findings::in_order() const {
  std::vector<Finding> ordered = first_;
  std::sort(ordered.begin(), ordered.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.op, a.step, a.kind) < std::tie(b.op, b.step, b.kind);
  });
  return ordered;
}

}  // namespace thaw
