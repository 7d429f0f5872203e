// SPDX-License-Identifier: Apache-2.0
#include "session/reproduction.h"

#include <gtest/gtest.h>

#include "device/sim/sim_device.h"

namespace thaw {
namespace {

Reproduction run(const Demonstration& demonstration, Kernels kernels) {
  SimDevice device({.poison_freed = demonstration.freed_memory != FreedMemory::left_alone});
  return reproduce(demonstration, device, Registry::standard(), kernels);
}

TEST(Reproduction, every_demonstration_comes_out_as_it_must_with_either_kernels) {
  for (const Kernels kernels : {Kernels::registered, Kernels::torch}) {
    for (const Demonstration& demonstration : demonstrations()) {
      EXPECT_TRUE(run(demonstration, kernels).as_it_must())
          << demonstration.cache << " " << demonstration.scenario;
    }
  }
}

TEST(Reproduction, a_wrong_cache_that_comes_out_right_is_noticed) {
  Demonstration pretended = demonstrations()[1];
  pretended.cache = "static";
  EXPECT_FALSE(run(pretended, Kernels::registered).as_it_must());
}

TEST(Reproduction, a_right_cache_that_comes_out_wrong_is_noticed) {
  Demonstration pretended = demonstrations()[0];
  pretended.cache = "counter:host_int";
  EXPECT_FALSE(run(pretended, Kernels::registered).as_it_must());
}

TEST(Reproduction, the_first_wrong_token_of_the_frozen_counter_is_the_first_replays) {
  const Reproduction frozen = run(demonstrations()[1], Kernels::registered);
  ASSERT_TRUE(frozen.first_wrong_token.has_value());
  EXPECT_EQ(frozen.first_wrong_token->op, 4);
  EXPECT_EQ(frozen.first_wrong_token->step, 1);
  EXPECT_EQ(frozen.first_wrong_token->position, 5);
  EXPECT_NE(frozen.verdict.find(FindingKind::outputs), nullptr);
  EXPECT_FALSE(run(demonstrations()[0], Kernels::registered).first_wrong_token.has_value());
}

}  // namespace
}  // namespace thaw
