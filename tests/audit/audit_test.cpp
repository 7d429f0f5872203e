// SPDX-License-Identifier: Apache-2.0
//
// The audit: names what each frozen cache froze, and finds nothing in one that froze nothing.

#include "audit/audit.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cache/static_cache.h"
#include "device/sim/sim_device.h"

namespace thaw {
namespace {

/// Its step has a node more once the cache has seen a longer prompt.
class BranchesOnThePrompt : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void prepare(const StepPlan& plan) override {
    if (plan.q_len > 1 && plan.q_len < 6) prompt_ = plan.q_len;
    StaticCache::prepare(plan);
  }
  void end_step() override {
    if (prompt_ > 3) scratch_.add_(1);
  }
  std::vector<Buffer> buffers() const override {
    auto all = StaticCache::buffers();
    all.push_back({"scratch", Role::scratch, -1, scratch_});
    return all;
  }

 private:
  int64_t prompt_ = 0;
  at::Tensor scratch_ = at::zeros({1}, at::TensorOptions().dtype(at::kLong).device(spec().device));
};

/// Its reset makes a new scratch tensor: a graph goes on with the old one.
class ResetMakesNewScratch : public StaticCache {
 public:
  explicit ResetMakesNewScratch(const CacheSpec& spec) : StaticCache(spec) { remake(); }
  void reset(std::span<const int64_t> rows) override {
    StaticCache::reset(rows);
    const at::Tensor old = scratch_;  // still alive, so the new one lies elsewhere
    remake();
  }
  void end_step() override { scratch_.add_(1); }
  std::vector<Buffer> buffers() const override {
    auto all = StaticCache::buffers();
    all.push_back({"scratch", Role::scratch, -1, scratch_});
    return all;
  }

 private:
  void remake() {
    scratch_ = at::zeros({1}, at::TensorOptions().dtype(at::kLong).device(spec().device));
  }
  at::Tensor scratch_;
};

/// Its step reads a pinned integer at each replay.
class ReadsPinnedMemory : public StaticCache {
 public:
  explicit ReadsPinnedMemory(const CacheSpec& spec)
      : StaticCache(spec),
        pinned_(at::empty({1}, at::TensorOptions().dtype(at::kLong).pinned_memory(true))),
        scratch_(at::zeros({1}, at::TensorOptions().dtype(at::kLong).device(spec.device))) {
    pinned_.fill_(0);
  }
  void end_step() override { scratch_.copy_(pinned_, /*non_blocking=*/true); }
  std::vector<Buffer> buffers() const override {
    auto all = StaticCache::buffers();
    all.push_back({"scratch", Role::scratch, -1, scratch_});
    all.push_back({"pinned", Role::scratch, -1, pinned_});
    return all;
  }

 private:
  at::Tensor pinned_, scratch_;
};

template <class Cache>
Registry::MakeCache make() {
  return [](const CacheSpec& spec) { return std::make_unique<Cache>(spec); };
}

class AuditTest : public testing::Test {
 protected:
  AuditTest() : registry_(Registry::standard()) {
    registry_.add_cache("test:branch", "", true, make<BranchesOnThePrompt>());
    registry_.add_cache("test:new_scratch", "", true, make<ResetMakesNewScratch>());
    registry_.add_cache("test:pinned", "", false, make<ReadsPinnedMemory>());
  }

  Audit audit_of(const std::string& cache, int64_t rows = 2,
                 Kernels kernels = Kernels::registered) {
    Settings settings;
    settings.cache = cache;
    settings.rows = rows;
    return audit(settings, device_, registry_, kernels);
  }

  SimDevice device_;
  Registry registry_;
};

std::string follows(const Frozen& frozen) {
  std::string text;
  for (const auto& elsewhere : frozen.elsewhere) text += elsewhere.follows + "; ";
  return text;
}

TEST_F(AuditTest, static_cache_froze_nothing_with_either_kind_of_kernels) {
  for (const Kernels kernels : {Kernels::registered, Kernels::torch}) {
    for (const int64_t rows : {1, 2, 4}) {
      const Audit result = audit_of("static", rows, kernels);
      EXPECT_TRUE(result.clean()) << result.frozen.front().operation;
      EXPECT_EQ(result.nodes.size(), 2U);
      EXPECT_EQ(result.not_compared.size(), rows == 1 ? 1U : 0U);
    }
  }
}

TEST_F(AuditTest,
       rule_33_a_host_counter_is_named_with_its_argument_and_follows_position_and_warm_ups) {
  for (const char* mode : {"counter:host_int", "counter:cpu_scalar"}) {
    const Audit result = audit_of(mode);
    ASSERT_FALSE(result.clean()) << mode;
    for (const Frozen& frozen : result.frozen) {
      EXPECT_EQ(frozen.kind, FrozenKind::value);
      EXPECT_EQ(frozen.value, "5");
      EXPECT_NE(frozen.argument, "");
      EXPECT_THAT(follows(frozen), testing::HasSubstr("the position; "));
      EXPECT_THAT(follows(frozen), testing::HasSubstr("the warm-ups"));
      EXPECT_THAT(follows(frozen), testing::Not(testing::HasSubstr("the generation")));
    }
  }
}

TEST_F(AuditTest, rule_35_a_rebound_counter_is_a_moved_buffer) {
  const Audit result = audit_of("counter:device_rebind");
  ASSERT_FALSE(result.clean());
  for (const Frozen& frozen : result.frozen) {
    EXPECT_EQ(frozen.kind, FrozenKind::buffer);
    EXPECT_THAT(frozen.value, testing::HasSubstr("cache.count"));
  }
}

TEST_F(AuditTest, a_counter_that_advances_itself_records_the_same_graph_and_is_clean_here) {
  EXPECT_TRUE(audit_of("counter:device_in_place").clean());
}

TEST_F(AuditTest, a_node_that_comes_with_a_longer_prompt_is_a_frozen_branch) {
  const Audit result = audit_of("test:branch");
  ASSERT_FALSE(result.clean());
  const Frozen& frozen = result.frozen.front();
  EXPECT_EQ(frozen.kind, FrozenKind::branch);
  EXPECT_EQ(frozen.node, 0U);
  EXPECT_EQ(frozen.value, "not recorded");
  EXPECT_EQ(follows(frozen), "the prompt's length; ");
}

TEST_F(AuditTest, a_buffer_that_reset_replaces_is_found_between_two_captures) {
  const Audit result = audit_of("test:new_scratch");
  ASSERT_FALSE(result.clean());
  EXPECT_EQ(result.frozen.front().kind, FrozenKind::buffer);
  EXPECT_THAT(result.frozen.front().value, testing::HasSubstr("cache.scratch"));
  EXPECT_EQ(follows(result.frozen.front()), "what ran between two captures; ");
}

TEST_F(AuditTest, rule_36_pinned_memory_that_a_node_reads_is_listed_and_is_not_called_frozen) {
  const Audit result = audit_of("test:pinned");
  EXPECT_TRUE(result.clean());
  ASSERT_EQ(result.host_sources.size(), 2U);  // q_len 1 and 3
  EXPECT_EQ(result.host_sources.front().memory, "cache.pinned");
  EXPECT_TRUE(audit_of("static").host_sources.empty());
}

TEST_F(AuditTest, call_stacks_are_noted_only_where_asked_for_and_end_at_the_subject) {
  EXPECT_TRUE(audit_of("counter:host_int").frozen.front().recorded_by.empty());
  device_.set_note_call_stacks(true);
  const Audit result = audit_of("counter:host_int");
  ASSERT_FALSE(result.frozen.front().recorded_by.empty());
  for (const std::string& function : result.frozen.front().recorded_by) {
    EXPECT_THAT(function, testing::Not(testing::HasSubstr("Subject::capture")));
  }
  EXPECT_THAT(result.frozen.front().recorded_by,
              testing::Contains(testing::HasSubstr("CounterCache")));
}

}  // namespace
}  // namespace thaw
