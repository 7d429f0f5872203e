// SPDX-License-Identifier: Apache-2.0
#include "session/case_result.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace thaw {
namespace {

/// The registered name, which may be longer than the one that was written. A name that is not
/// registered stays as it is: it matters only to who runs it.
std::string full_name(const Registry& registry, const std::string& name) {
  const Registry::Entry* entry = registry.find(name);
  return entry == nullptr ? name : entry->name;
}

/// Whether the run had an oracle for this kind; oracles are called like the kind that they judge.
bool was_judged(FindingKind kind, const Verdict& verdict) {
  return std::find(verdict.covered.begin(), verdict.covered.end(), to_string(kind)) !=
         verdict.covered.end();
}

Held judge(const Expect& expect, const Verdict& verdict) {
  if (verdict.status == Verdict::Status::incomplete) return Held::unknown;
  if (holds(expect, verdict)) return Held::yes;
  if (expect.kind && !was_judged(*expect.kind, verdict)) return Held::unknown;
  return Held::no;
}

CaseResult::Outcome outcome_of(const CaseResult& result) {
  const auto any_run = [&](Verdict::Status status) {
    return std::any_of(result.runs.begin(), result.runs.end(),
                       [&](const CaseRun& run) { return run.verdict.status == status; });
  };
  const auto any_expect = [&](Held held) {
    return std::any_of(result.expects.begin(), result.expects.end(),
                       [&](const ExpectResult& expect) { return expect.held == held; });
  };
  if (any_expect(Held::no)) return CaseResult::Outcome::failed;
  if (result.expects.empty() && any_run(Verdict::Status::findings)) {
    return CaseResult::Outcome::failed;
  }
  if (any_run(Verdict::Status::incomplete) || any_expect(Held::unknown)) {
    return CaseResult::Outcome::incomplete;
  }
  return CaseResult::Outcome::ok;
}

/// Runs one cache of a case and returns the index of its run; a cache that ran already runs once.
class Runs {
 public:
  Runs(const Case& c, Device& device, const Registry& registry, const RunOptions& options,
       std::vector<CaseRun>& runs)
      : case_(c), device_(device), registry_(registry), options_(options), runs_(runs) {}

  size_t of(const std::string& cache) {
    const auto done = std::find_if(runs_.begin(), runs_.end(),
                                   [&](const CaseRun& run) { return run.verdict.cache == cache; });
    if (done != runs_.end()) return static_cast<size_t>(done - runs_.begin());
    options_.cache = cache;
    const auto begin = std::chrono::steady_clock::now();
    Verdict verdict = run_case(case_, device_, registry_, options_);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    runs_.push_back({.verdict = std::move(verdict), .seconds = passed.count()});
    return runs_.size() - 1;
  }

 private:
  const Case& case_;
  Device& device_;
  const Registry& registry_;
  RunOptions options_;
  std::vector<CaseRun>& runs_;
};

}  // namespace

CaseResult run_with_expects(const Case& c, Device& device, const Registry& registry,
                            const RunOptions& options) {
  CaseResult result;
  Runs runs(c, device, registry, options, result.runs);
  const std::string own = full_name(registry, c.settings.cache);
  const std::string first = options.cache.empty() ? own : full_name(registry, options.cache);
  runs.of(first);
  for (const auto& line : c.expects) {
    const Expect& expect = line.value;
    const std::string cache = expect.cache.empty() ? own : full_name(registry, expect.cache);
    if (!options.cache.empty() && cache != first) continue;
    const size_t run = runs.of(cache);
    result.expects.push_back(
        {.expect = expect, .run = run, .held = judge(expect, result.runs[run].verdict)});
  }
  result.outcome = outcome_of(result);
  return result;
}

std::optional<UnknownCacheName> find_unknown_cache(const Case& c, const Registry& registry) {
  if (registry.find(c.settings.cache) == nullptr) {
    return UnknownCacheName{.message = registry.unknown(c.settings.cache)};
  }
  for (const auto& line : c.expects) {
    const std::string& cache = line.value.cache;
    if (cache.empty() || registry.find(cache) != nullptr) continue;
    return UnknownCacheName{.expect = &line, .message = registry.unknown(cache)};
  }
  return {};
}

std::string_view to_string(CaseResult::Outcome outcome) {
  switch (outcome) {
    case CaseResult::Outcome::ok:
      return "ok";
    case CaseResult::Outcome::failed:
      return "failed";
    case CaseResult::Outcome::incomplete:
      return "incomplete";
  }
  return "";
}

std::string_view to_string(Kernels kernels) {
  switch (kernels) {
    case Kernels::registered:
      return "registered";
    case Kernels::torch:
      return "torch";
  }
  return "";
}

std::optional<Kernels> parse_kernels(std::string_view name) {
  for (const Kernels kernels : {Kernels::registered, Kernels::torch}) {
    if (name == to_string(kernels)) return kernels;
  }
  return {};
}

}  // namespace thaw
