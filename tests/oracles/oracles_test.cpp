// SPDX-License-Identifier: Apache-2.0
//
// Every oracle catches a fault made for it, at the stated place, and does not object to the right
// cache on the same ops.

#include "oracles/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "ledger/validate.h"
#include "oracles/faulty_caches.h"
#include "session/session.h"

namespace thaw {
namespace {

using testing::HasSubstr;

Verdict run(const std::string& text, const std::string& cache, const SimOptions& options = {}) {
  const Case c = parse_case("thaw case 1\n" + text, "test");
  validate_case(c, "test");
  SimDevice device(options);
  return run_case(c, device, faulty_registry(), {.cache = cache});
}

struct Fault {
  std::string cache;
  std::string ops;
  FindingKind kind;
  std::string headline;
  std::string found;  ///< part of what the finding says that it found
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  return out << fault.headline << " on " << fault.cache;
}

class OracleTest : public testing::TestWithParam<Fault> {};

TEST_P(OracleTest, catches_its_fault_and_is_quiet_on_the_right_cache) {
  const Fault& fault = GetParam();
  const Verdict wrong = run(fault.ops, fault.cache);
  const Finding* finding = wrong.find(fault.kind);
  ASSERT_NE(finding, nullptr) << "nothing of this kind was found";
  EXPECT_EQ(headline(*finding), fault.headline);
  EXPECT_THAT(finding->found, HasSubstr(fault.found));
  EXPECT_FALSE(explain(fault.kind).cause.empty());
  EXPECT_FALSE(explain(fault.kind).remedy.empty());

  const Verdict right = run(fault.ops, "static");
  EXPECT_EQ(right.status, Verdict::Status::clean)
      << headline(right.findings.front()) << ": " << right.findings.front().found;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, OracleTest,
    testing::Values(
        Fault{"counter:host_int", "prefill 0 5\nwarmup x3\ncapture g\nreplay g x4\n",
              FindingKind::slots, "slots@2.2", "row 0, position 5, written by op 2"},
        Fault{"counter:host_int", "prefill 0 5\ncapture g\nreplay g x3\n", FindingKind::slots,
              "slots@3.2", "row 0, position 6, written by op 3"},
        Fault{"test:writes_one_slot_on", "prefill 0 5\n", FindingKind::slots, "slots@1.1",
              "nothing (unowned); its entry lies at row 0, position 1"},
        Fault{"test:spills_into_next_row", "rows 2\nprefill 0 5\n", FindingKind::slots, "slots@1.1",
              "no tag"},
        Fault{"counter:device_in_place", "prefill 0 5\nwarmup\n", FindingKind::length, "length@2.1",
              "write position 6"},
        Fault{"test:length_off_by_one", "prefill 0 5\ndecode\n", FindingKind::length, "length@1.1",
              "write position 1"},
        Fault{"test:counts_no_refusals", "slots 4\nprefill 0 6\ndecode\n", FindingKind::length,
              "length@1.1", "0"},
        Fault{"counter:device_in_place", "prefill 0 5\nwarmup\n", FindingKind::purity, "purity@2.1",
              "write position 6"},
        Fault{"counter:host_int", "prefill 0 5\ncapture g\n", FindingKind::purity, "purity@2",
              "write position 6"},
        Fault{"test:constant_overwritten", "prefill 0 5\n", FindingKind::purity, "purity@1.1",
              "other values"},
        Fault{"test:inputs_overwritten", "prefill 0 5\nwarmup\n", FindingKind::purity, "purity@2.1",
              "other values"},
        Fault{"test:values_for_keys", "prefill 0 5\n", FindingKind::outputs, "outputs@1.1", ""},
        Fault{"test:holds_static_storage", "prefill 0 3\ncapture g\nreplay g\nhold\nreplay g\n",
              FindingKind::outputs, "outputs@5.1", "other values"},
        Fault{"test:wake_clears_constants",
              "prefill 0 3\ncapture g\nsleep\nprefill 0 2\nreplay g\n", FindingKind::purity,
              "purity@3", "other values"},
        Fault{"test:key_without_rows", "rows 2\nprefill all 3\ncapture a rows=1\nserve\n",
              FindingKind::slots, "slots@3.1", "nothing (unowned)"},
        Fault{"test:ignores_failed_launch",
              "prefill 0 3\ncapture g\nreplay g\nfail replay\nreplay g\n", FindingKind::slots,
              "slots@5.1", "nothing (unowned)"},
        Fault{"test:loses_loads", "load 0 4\ndecode\n", FindingKind::slots, "slots@2.1",
              "nothing (unowned)"},
        Fault{"test:reset_makes_new_table", "prefill 0 3\ncapture g\nreplay g\nreset 0\n",
              FindingKind::addresses, "addresses@4", "another buffer"},
        Fault{"test:reset_makes_new_table", "prefill 0 3\ncapture g\nreplay g\nreset 0\n",
              FindingKind::liveness, "liveness@4", "freed"},
        Fault{"counter:device_rebind", "prefill 0 5\ncapture g\n", FindingKind::liveness,
              "liveness@2", "freed"},
        Fault{"test:reads_back", "prefill 0 3\ncapture g\nreplay g\n", FindingKind::refusal,
              "refusal@2", "900"},
        Fault{"test:copies_pageable", "prefill 0 3\ncapture g\nreplay g\n", FindingKind::refusal,
              "refusal@2", "pinned"},
        Fault{"test:index_out_of_range", "prefill 0 5\ncapture g\nreplay g x3\n",
              FindingKind::error, "error@3.2", ""},
        Fault{"test:throws", "prefill 0 5\ndecode x3\n", FindingKind::error, "error@2.2",
              "this cache is at its end"}));

TEST(Oracles, a_freed_buffer_that_was_handed_out_again_is_said_to_be_so) {
  const Verdict verdict =
      run("prefill 0 3\ncapture g\nreset 0\nchurn 2\n", "test:reset_makes_new_table");
  ASSERT_NE(verdict.find(FindingKind::liveness), nullptr);
  EXPECT_EQ(headline(*verdict.find(FindingKind::liveness)), "liveness@3");
  // The fault is reported where it happened, before churn made it worse.
  EXPECT_EQ(verdict.find(FindingKind::liveness)->found, "freed");
}

TEST(Oracles, a_refused_capture_leaves_an_empty_graph_and_the_case_goes_on_R16) {
  const Verdict verdict = run("prefill 0 3\ncapture g\nreplay g x2\n", "test:copies_pageable");
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(headline(verdict.findings.front()), "refusal@2");
  EXPECT_EQ(verdict.replays, 2);
}

TEST(Oracles, findings_of_one_step_come_in_the_order_of_the_language_R23) {
  const Verdict verdict = run("prefill 0 5\ncapture g\nreplay g x3\n", "counter:device_rebind");
  ASSERT_GE(verdict.findings.size(), 4U);
  EXPECT_EQ(headline(verdict.findings[0]), "liveness@2");
  EXPECT_EQ(headline(verdict.findings[1]), "addresses@2");
  EXPECT_EQ(headline(verdict.findings[2]), "purity@2");
  EXPECT_EQ(headline(verdict.findings[3]), "length@2");
}

TEST(Oracles, every_oracle_says_what_it_verifies_and_what_not) {
  for (const OracleRow& row : oracle_rows()) {
    EXPECT_TRUE(parse_finding_kind(row.name).has_value()) << row.name;
    EXPECT_FALSE(row.verifies.empty());
    EXPECT_FALSE(row.does_not_verify.empty());
  }
}

}  // namespace
}  // namespace thaw
