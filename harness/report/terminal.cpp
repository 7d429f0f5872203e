// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <fmt/format.h>

#include <vector>

#include "case/case_text.h"
#include "report/wrap.h"

namespace thaw {
namespace {

std::string outcome_word(CaseResult::Outcome outcome, const Style& style) {
  switch (outcome) {
    case CaseResult::Outcome::ok:
      return style.good("ok        ");
    case CaseResult::Outcome::failed:
      return style.bad("FAILED    ");
    case CaseResult::Outcome::incomplete:
      return style.doubtful("incomplete");
  }
  return "";
}

/// What there was where an expectation asked for something else.
std::string found_instead(const Expect& expect, const Verdict& verdict) {
  if (verdict.status == Verdict::Status::incomplete) return summary(verdict);
  if (!expect.kind) return summary(verdict);
  const Finding* first = verdict.find(*expect.kind);
  if (first != nullptr) return fmt::format("the first is {}", headline(*first));
  return fmt::format("no finding of this kind; {}", summary(verdict));
}

std::string why_unknown(const Expect& expect, const Verdict& verdict) {
  if (verdict.status == Verdict::Status::incomplete) return verdict.incomplete_because;
  for (const auto& [oracle, because] : verdict.not_covered) {
    if (expect.kind && oracle == to_string(*expect.kind)) return because;
  }
  return "no oracle judges this kind";
}

std::string names(const std::vector<std::string>& list) {
  return list.empty() ? "nothing" : fmt::format("{}", fmt::join(list, ", "));
}

}  // namespace

std::string summary(const Verdict& verdict) {
  switch (verdict.status) {
    case Verdict::Status::clean:
      return "clean";
    case Verdict::Status::incomplete:
      return verdict.incomplete_because;
    case Verdict::Status::findings:
      break;
  }
  std::vector<std::string> headlines;
  for (const Finding& finding : verdict.findings) headlines.push_back(headline(finding));
  return fmt::format("{}", fmt::join(headlines, " "));
}

std::string result_line(std::string_view name, const CaseResult& result, bool seconds,
                        const Style& style) {
  std::vector<std::string> runs;
  for (const CaseRun& run : result.runs) {
    runs.push_back(fmt::format("{}: {}", run.verdict.cache, summary(run.verdict)));
    if (seconds) runs.back() += fmt::format(" ({:.6f} s)", run.seconds);
  }
  return fmt::format("{}  {}  {}\n", outcome_word(result.outcome, style), name,
                     fmt::join(runs, ", "));
}

std::string broken_expectations(const CaseResult& result, const Style& style) {
  std::string text;
  for (const ExpectResult& expect : result.expects) {
    if (expect.held == Held::yes) continue;
    const Verdict& verdict = result.runs[expect.run].verdict;
    const std::string asked = fmt::format("expect {}", print_expect(expect.expect));
    if (expect.held == Held::unknown) {
      text += wrap(fmt::format("{}: not judged on {}: {}", asked, verdict.cache,
                               why_unknown(expect.expect, verdict)),
                   "  ", style.width);
    } else {
      text += wrap(fmt::format("{}: does not hold on {}: {}", asked, verdict.cache,
                               found_instead(expect.expect, verdict)),
                   "  ", style.width);
    }
  }
  return text;
}

std::string comparisons(const CaseResult& result, const Style& style) {
  std::string text;
  for (const CaseRun& run : result.runs) {
    if (run.verdict.comparison.empty()) continue;
    text +=
        wrap(fmt::format("{}: {}", run.verdict.cache, run.verdict.comparison), "  ", style.width);
  }
  return text;
}

std::string coverage(const Verdict& verdict, const Style& style) {
  std::string text = wrap(fmt::format("judged on {} by {}", verdict.device, names(verdict.covered)),
                          "  ", style.width);
  for (const auto& [oracle, because] : verdict.not_covered) {
    text += wrap(fmt::format("not judged: {}: {}", oracle, because), "  ", style.width);
  }
  return text;
}

}  // namespace thaw
