// SPDX-License-Identifier: Apache-2.0
#include "reference/entry_log.h"

#include <gtest/gtest.h>

#include <array>

namespace thaw {
namespace {

using Elements = std::array<float, 2>;

TEST(EntryLog, finds_the_newest_entry_of_the_same_elements) {
  EntryLog log;
  log.add(Elements{0.5F, -1.5F}, {.position = 3});
  log.add(Elements{0.5F, -1.5F}, {.position = 4});
  EXPECT_EQ(log.find(Elements{0.5F, -1.5F})->position, 4);
  EXPECT_FALSE(log.find(Elements{0.5F, 1.5F}).has_value());
}

TEST(EntryLog, forgets_the_oldest_and_never_one_of_the_last_capacity_many) {
  EntryLog log(4);
  for (int64_t i = 0; i < 100; ++i) {
    log.add(Elements{static_cast<float>(i), 0}, {.position = i});
    for (int64_t recent = std::max<int64_t>(0, i - 3); recent <= i; ++recent) {
      ASSERT_EQ(log.find(Elements{static_cast<float>(recent), 0})->position, recent);
    }
  }
  EXPECT_FALSE(log.find(Elements{0, 0}).has_value());
}

}  // namespace
}  // namespace thaw
