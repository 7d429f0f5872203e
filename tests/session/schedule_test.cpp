// SPDX-License-Identifier: Apache-2.0
//
// The settings schedule and lazy: what is right stays right, what is wrong is still found, and what
// only goes wrong late is found only then.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "ledger/validate.h"
#include "session/corpus.h"
#include "session/session.h"
#include "zoo/zoo.h"

namespace thaw {
namespace {

std::string findings_of(const Verdict& verdict) {
  std::string text(to_string(verdict.status));
  for (const Finding& finding : verdict.findings) text += " " + headline(finding);
  return text;
}

std::string run(const std::string& text, const std::string& cache = "") {
  const Case c = parse_case("thaw case 1\n" + text, "test");
  validate_case(c, "test");
  SimDevice device;
  return findings_of(run_case(c, device, full_registry(), {.cache = cache}));
}

TEST(Schedule, R21_every_case_is_clean_under_every_schedule_on_a_cache_that_does_it_right) {
  const Registry registry = full_registry();
  SimDevice device;
  for (const std::string folder : {"seeds", "zoo"}) {
    for (CorpusCase& c : corpus_cases(folder)) {
      for (const CaseSchedule schedule : {CaseSchedule::late, CaseSchedule::shuffle}) {
        c.value.settings.schedule = schedule;
        const Verdict verdict = run_case(c.value, device, registry, {.cache = "static"});
        EXPECT_EQ(findings_of(verdict), "clean") << c.file;
      }
    }
  }
}

TEST(Schedule, R21_the_same_seed_gives_the_same_findings) {
  const std::string ops = "schedule shuffle\nload 0 5\ncapture g\nreplay g\nreplay g\nreplay g\n";
  std::set<std::string> seen;
  for (int seed = 0; seed < 12; ++seed) {
    const std::string text = "seed " + std::to_string(seed) + "\n" + ops;
    const std::string findings = run(text, "zoo:async_result_not_awaited");
    EXPECT_EQ(run(text, "zoo:async_result_not_awaited"), findings);
    seen.insert(findings);
  }
  EXPECT_GT(seen.size(), 1U) << "and other seeds others";
}

/// Kinds of findings that do not depend on who looked when: outputs are seen for the last step of
/// an op alone when nobody waits between steps.
std::set<FindingKind> kinds(const Verdict& verdict) {
  std::set<FindingKind> found;
  for (const Finding& finding : verdict.findings) found.insert(finding.kind);
  found.erase(FindingKind::outputs);
  return found;
}

TEST(Schedule, R21_what_a_counter_gets_wrong_at_once_it_gets_wrong_late) {
  const Registry registry = full_registry();
  SimDevice device;
  int64_t wrong = 0;
  for (CorpusCase& c : corpus_cases("zoo")) {
    if (!c.value.settings.cache.starts_with("counter")) continue;
    const auto early = kinds(run_case(c.value, device, registry));
    c.value.settings.schedule = CaseSchedule::late;
    EXPECT_EQ(kinds(run_case(c.value, device, registry)), early) << c.file;
    wrong += early.empty() ? 0 : 1;
  }
  EXPECT_GT(wrong, 5);
}

TEST(Schedule, R18_findings_of_a_late_case_name_an_op_and_no_step) {
  EXPECT_EQ(run("cache counter:host_int\nschedule late\nload 0 5\nwarmup x3\n"),
            "findings purity@2 slots@2 length@2");
}

TEST(Schedule, R21_a_fault_of_order_is_found_late_and_not_early) {
  const std::string staged = "prefill 0 3\ncapture g\nreplay g x3\n";
  EXPECT_EQ(run(staged, "zoo:staging_rewritten_too_early"), "clean");
  EXPECT_EQ(run("schedule late\n" + staged, "zoo:staging_rewritten_too_early"),
            "findings slots@3 outputs@3");
  const std::string forked = "load 0 5\ncapture g\nreplay g x2\n";
  EXPECT_EQ(run(forked, "zoo:async_result_not_awaited"), "clean");
  EXPECT_EQ(run("schedule late\n" + forked, "zoo:async_result_not_awaited"), "findings outputs@3");
}

TEST(Lazy, rule_22_a_capture_without_a_step_before_it_is_refused) {
  EXPECT_EQ(run("lazy on\ncapture g\nprefill 0 3\nreplay g\n"), "findings refusal@1");
  EXPECT_EQ(run("lazy off\ncapture g\nprefill 0 3\nreplay g\n"), "clean");
}

TEST(Lazy, rule_22_a_warm_up_makes_the_state_of_libraries) {
  EXPECT_EQ(run("lazy on\nwarmup\ncapture g\nprefill 0 3\nreplay g\n"), "clean");
}

}  // namespace
}  // namespace thaw
