// SPDX-License-Identifier: Apache-2.0
//
// The corpus on every cache that must pass it, and on those that must not.

#include "session/corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "cache/counter_cache.h"
#include "cache/static_cache.h"
#include "caches/paged_cache.h"
#include "caches/trampoline_cache.h"
#include "device/sim/sim_device.h"
#include "session/session.h"
#include "zoo/zoo.h"

namespace thaw {
namespace {

Registry with_other_layouts() {
  Registry registry = Registry::standard();
  for (const int64_t block_size : {1, 3, 4}) {
    registry.add_cache("test:paged_" + std::to_string(block_size), "blocks and a table", false,
                       [block_size](const CacheSpec& spec) {
                         return std::make_unique<PagedCache>(spec, block_size);
                       });
  }
  registry.add_cache("test:trampoline", "every verb a function", false, [](const CacheSpec& spec) {
    return trampoline_over(std::make_shared<StaticCache>(spec));
  });
  return registry;
}

std::string first_finding(const Verdict& verdict) {
  if (verdict.findings.empty()) return std::string(to_string(verdict.status));
  const Finding& finding = verdict.findings.front();
  return headline(finding) + " " + finding.place + ": expected " + finding.expected + ", found " +
         finding.found;
}

struct Way {
  std::string cache;
  Kernels kernels;
};

class CorpusTest : public testing::TestWithParam<Way> {};

TEST_P(CorpusTest, every_case_is_clean_on_a_cache_that_does_it_right) {
  const Registry registry = with_other_layouts();
  SimDevice device;
  int64_t judged = 0;
  for (const std::string folder : {"seeds", "zoo"}) {
    for (const CorpusCase& c : corpus_cases(folder)) {
      const Verdict verdict = run_case(c.value, device, registry,
                                       {.cache = GetParam().cache, .kernels = GetParam().kernels});
      // What a full row evicts cannot be undone, so some ops are not for rows that roll (R9).
      const bool not_for_it = verdict.incomplete_because.starts_with("not possible on this cache");
      EXPECT_TRUE(verdict.status == Verdict::Status::clean || not_for_it)
          << c.file << ": " << first_finding(verdict);
      judged += not_for_it ? 0 : 1;
    }
  }
  EXPECT_GT(judged, 360);
}

INSTANTIATE_TEST_SUITE_P(
    Caches, CorpusTest,
    testing::Values(Way{"static", Kernels::registered}, Way{"static", Kernels::torch},
                    Way{"test:paged_1", Kernels::registered},
                    Way{"test:paged_3", Kernels::registered},
                    Way{"test:paged_4", Kernels::registered},
                    Way{"test:trampoline", Kernels::registered},
                    Way{"test:trampoline", Kernels::torch}, Way{"ring", Kernels::registered},
                    Way{"shift", Kernels::registered}, Way{"shift", Kernels::torch}),
    [](const auto& info) {
      std::string name = info.param.cache;
      std::replace(name.begin(), name.end(), ':', '_');
      return name + (info.param.kernels == Kernels::torch ? "_torch" : "");
    });

TEST(Corpus, every_expectation_of_every_case_holds) {
  const Registry registry = full_registry();
  SimDevice device;
  int64_t expectations = 0;
  for (const std::string folder : {"seeds", "zoo"}) {
    for (const CorpusCase& c : corpus_cases(folder)) {
      for (const auto& line : c.value.expects) {
        const Verdict verdict = run_case(c.value, device, registry, {.cache = line.value.cache});
        EXPECT_TRUE(holds(line.value, verdict)) << c.file << ": " << first_finding(verdict);
        ++expectations;
      }
    }
  }
  EXPECT_GT(expectations, 200);
}

/// The case without warm-ups, captures, loads and sleeps: replays become decodes, loads prefills,
/// sleeps resets. Ops that are not possible any more are left out.
Case without_capture(const Case& c) {
  Case eager = c;
  eager.ops.clear();
  eager.expects.clear();
  Ledger ledger(c.settings);
  std::map<std::string, int64_t> q_of_graph;
  for (const auto& line : c.ops) {
    Op op = line.value;
    if (op.kind == OpKind::capture) q_of_graph[op.graph] = op.q;
    if (op.kind == OpKind::warmup || op.kind == OpKind::capture || op.kind == OpKind::drop)
      continue;
    if (op.kind == OpKind::replay) {
      op = {.kind = OpKind::decode,
            .q = q_of_graph[op.graph],
            .times = op.times,
            .graph = {},
            .order = {}};
    }
    if (op.kind == OpKind::load) op.kind = OpKind::prefill;
    if (op.kind == OpKind::sleep) op = {.kind = OpKind::reset, .row = all_rows};
    if (ledger.objection(op)) continue;
    eager.ops.emplace_back().value = op;
    ledger.apply(op, static_cast<int64_t>(eager.ops.size()));
  }
  return eager;
}

TEST(Corpus, without_warmup_load_sleep_and_capture_no_counter_can_be_told_from_the_right_cache) {
  const Registry registry = Registry::standard();
  SimDevice device;
  int64_t runs = 0;
  for (const CorpusCase& c : corpus_cases("seeds")) {
    const Case eager = without_capture(c.value);
    for (const Registry::Entry& entry : registry.entries()) {
      const Verdict verdict = run_case(eager, device, registry, {.cache = entry.name});
      EXPECT_EQ(verdict.status, Verdict::Status::clean)
          << c.file << " on " << entry.name << ": " << first_finding(verdict);
      ++runs;
    }
  }
  EXPECT_GT(runs, 1000);
}

TEST(Corpus, the_same_case_gives_the_same_verdict_after_any_other) {
  const Registry registry = full_registry();
  const auto cases = corpus_cases("zoo");
  ASSERT_FALSE(cases.empty());
  const auto alone = [&](const CorpusCase& c) {
    SimDevice fresh;
    return run_case(c.value, fresh, registry);
  };
  for (const CorpusCase& c : cases) {
    const Verdict first = alone(c);
    SimDevice used;
    for (const CorpusCase& other : cases) run_case(other.value, used, registry);
    const Verdict again = run_case(c.value, used, registry);
    ASSERT_EQ(first.findings.size(), again.findings.size()) << c.file;
    for (size_t i = 0; i < first.findings.size(); ++i) {
      EXPECT_EQ(headline(first.findings[i]), headline(again.findings[i]));
      EXPECT_EQ(first.findings[i].place, again.findings[i].place);
      EXPECT_EQ(first.findings[i].expected, again.findings[i].expected);
      EXPECT_EQ(first.findings[i].found, again.findings[i].found);
    }
  }
}

}  // namespace
}  // namespace thaw
