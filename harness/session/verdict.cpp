// SPDX-License-Identifier: Apache-2.0
#include "session/verdict.h"

#include <algorithm>

namespace thaw {

const Finding* Verdict::find(FindingKind kind) const {
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& f) { return f.kind == kind; });
  return found == findings.end() ? nullptr : &*found;
}

std::string_view to_string(Verdict::Status status) {
  switch (status) {
    case Verdict::Status::clean:
      return "clean";
    case Verdict::Status::findings:
      return "findings";
    case Verdict::Status::incomplete:
      return "incomplete";
  }
  return "";
}

bool holds(const Expect& expect, const Verdict& verdict) {
  if (verdict.status == Verdict::Status::incomplete) return false;
  if (!expect.kind) return verdict.findings.empty();
  const Finding* finding = verdict.find(*expect.kind);
  if (finding == nullptr) return false;
  if (expect.op != 0 && finding->op != expect.op) return false;
  return expect.step == 0 || finding->step == expect.step;
}

}  // namespace thaw
