// SPDX-License-Identifier: Apache-2.0
#include "trace/prefix_sharing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace thaw {
namespace {

Request of_blocks(std::vector<int64_t> blocks) {
  return {.prompt = 1, .generated = 1, .line = 0, .blocks = std::move(blocks)};
}

TEST(PrefixSharing, a_trace_without_names_of_blocks_has_none) {
  const std::vector<Request> requests{of_blocks({}), of_blocks({})};
  EXPECT_EQ(prefix_sharing(requests).blocks, 0);
}

TEST(PrefixSharing, what_can_be_shared_ends_at_the_first_new_block) {
  const std::vector<Request> requests{of_blocks({1, 2, 3}), of_blocks({1, 2, 9, 3}),
                                      of_blocks({8, 1})};
  const PrefixSharing sharing = prefix_sharing(requests);
  EXPECT_EQ(sharing.blocks, 9);
  EXPECT_EQ(sharing.seen_before, 4) << "1, 2, 3 and 1 again";
  EXPECT_EQ(sharing.in_prefixes, 2) << "1 and 2 of the second request";
  EXPECT_EQ(sharing.requests, 1);
}

TEST(PrefixSharing, a_block_is_not_shared_with_its_own_request) {
  const std::vector<Request> requests{of_blocks({5, 5, 5})};
  EXPECT_EQ(prefix_sharing(requests).seen_before, 0);
}

/// The same by looking at all earlier requests again and again.
PrefixSharing slowly(const std::vector<Request>& requests) {
  PrefixSharing sharing;
  const auto known = [&](size_t before, int64_t block) {
    return std::any_of(requests.begin(), requests.begin() + static_cast<ptrdiff_t>(before),
                       [&](const Request& earlier) {
                         return std::count(earlier.blocks.begin(), earlier.blocks.end(), block) > 0;
                       });
  };
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto& blocks = requests[i].blocks;
    const auto is_new = [&](int64_t block) { return !known(i, block); };
    const auto prefix = std::find_if(blocks.begin(), blocks.end(), is_new) - blocks.begin();
    sharing.blocks += static_cast<int64_t>(blocks.size());
    sharing.seen_before += std::count_if(blocks.begin(), blocks.end(), std::not_fn(is_new));
    sharing.in_prefixes += prefix;
    sharing.requests += prefix > 0 ? 1 : 0;
  }
  return sharing;
}

TEST(PrefixSharing, equals_its_slow_twin_on_random_traces) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<Request> requests;
    for (uint64_t i = 0; i < 1 + random() % 12; ++i) {
      std::vector<int64_t> blocks(random() % 6);
      for (int64_t& block : blocks) block = static_cast<int64_t>(random() % 10);
      requests.push_back(of_blocks(std::move(blocks)));
    }
    const PrefixSharing fast = prefix_sharing(requests), slow = slowly(requests);
    EXPECT_EQ(fast.blocks, slow.blocks);
    EXPECT_EQ(fast.seen_before, slow.seen_before);
    EXPECT_EQ(fast.in_prefixes, slow.in_prefixes);
    EXPECT_EQ(fast.requests, slow.requests);
  }
}

}  // namespace
}  // namespace thaw
