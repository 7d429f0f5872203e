// SPDX-License-Identifier: Apache-2.0
//
// Caches whose rows keep their last entries, in random cases that fill small windows, and the
// counter that is split between device and host.

#include <gtest/gtest.h>

#include <string>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "ledger/random_ops.h"
#include "ledger/validate.h"
#include "session/session.h"

namespace thaw {
namespace {

/// A valid case for a cache of this layout.
Case random_case(uint64_t seed, Layout layout, bool eager_only) {
  RandomOps random(seed);
  Case c;
  c.settings.rows = random.between(1, 3);
  c.settings.slots = random.between(3, 8);
  c.settings.window = random.between(0, c.settings.slots);
  c.settings.layers = random.between(1, 2);
  c.settings.kv_heads = random.between(1, 2);
  Ledger ledger(c.settings, layout);
  for (int64_t attempt = 0; attempt < 60 && c.ops.size() < 16; ++attempt) {
    const Op op = random.op(c.settings.rows, c.settings.slots);
    const bool of_graphs = op.kind == OpKind::warmup || op.kind == OpKind::capture ||
                           op.kind == OpKind::load || op.kind == OpKind::sleep;
    if ((eager_only && of_graphs) || ledger.obstacle(op)) continue;
    c.ops.emplace_back().value = op;
    ledger.apply(op, static_cast<int64_t>(c.ops.size()));
  }
  return c;
}

std::string first_finding(const Verdict& verdict) {
  if (verdict.findings.empty()) return verdict.incomplete_because;
  const Finding& finding = verdict.findings.front();
  return headline(finding) + " " + finding.place + ": expected " + finding.expected + ", found " +
         finding.found;
}

void expect_clean(const Case& c, SimDevice& device, const std::string& cache, Kernels kernels) {
  const Verdict verdict =
      run_case(c, device, Registry::standard(), {.cache = cache, .kernels = kernels});
  EXPECT_EQ(verdict.status, Verdict::Status::clean)
      << cache << ": " << first_finding(verdict) << "\n"
      << print_case(c);
}

TEST(RollingRows, rule_R9_rings_and_rows_that_shift_are_clean_on_random_cases) {
  SimDevice device;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    const Case c = random_case(seed, Layout::ring, false);
    expect_clean(c, device, "ring", Kernels::registered);
    expect_clean(c, device, "shift", Kernels::registered);
    if (seed % 10 == 0) {
      expect_clean(c, device, "ring", Kernels::torch);
      expect_clean(c, device, "shift", Kernels::torch);
    }
  }
}

TEST(RollingRows, a_linear_cache_with_a_window_is_clean_on_random_cases) {
  SimDevice device;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    expect_clean(random_case(seed, Layout::linear, false), device, "static", Kernels::registered);
  }
}

TEST(RollingRows, without_warmup_load_sleep_and_capture_the_split_counter_is_right) {
  SimDevice device;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    expect_clean(random_case(seed, Layout::shift, true), device, "counter:sliding_split",
                 Kernels::registered);
  }
}

TEST(RollingRows, rule_R22_what_a_layout_forbids_is_not_judged) {
  Case c = parse_case("thaw case 1\nwindow 4\nprefill 0 5\ncrop 0 2\n", "test");
  EXPECT_NO_THROW(validate_case(c, "test"));
  EXPECT_THROW(validate_case(c, "test", Layout::ring), CaseError);
  SimDevice device;
  const Verdict verdict = run_case(c, device, Registry::standard(), {.cache = "ring"});
  EXPECT_EQ(verdict.status, Verdict::Status::incomplete);
  EXPECT_EQ(verdict.incomplete_because,
            "not possible on this cache: case:4:6: crop: row 0 has length 5 here and 4 slots, so "
            "its first entries are gone; crop before the row is full");
  expect_clean(c, device, "static", Kernels::registered);
}

TEST(RollingRows, every_registered_cache_has_the_layout_that_it_is_registered_with) {
  SimDevice device;
  const Registry registry = Registry::standard();
  for (const Registry::Entry& entry : registry.entries()) {
    const auto subject = entry.make(device, Case{}, Kernels::registered);
    EXPECT_EQ(subject->cache().abilities().layout, entry.layout) << entry.name;
  }
}

}  // namespace
}  // namespace thaw
