// SPDX-License-Identifier: Apache-2.0
//
// The order in which enqueued work runs: always a legal one, and the one that the schedule says.

#include "device/sim/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace thaw::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Runs letters, and keeps the order in which they ran.
class Letters {
 public:
  explicit Letters(Schedule schedule, uint64_t seed = 1) { queue.start(schedule, seed); }

  WorkQueue::Id enqueue(int64_t stream, char letter) {
    return queue.enqueue(stream, [this, letter] { ran.push_back(letter); });
  }
  /// The stream's next work follows what the other holds now.
  void wait(int64_t stream, int64_t other) { queue.wait(stream, queue.frontier(other)); }

  WorkQueue queue;
  std::string ran;
};

TEST(WorkQueue, early_defers_nothing) {
  WorkQueue queue;
  EXPECT_FALSE(queue.defers());
  queue.start(Schedule::late, 1);
  EXPECT_TRUE(queue.defers());
}

TEST(WorkQueue, late_work_waits_until_somebody_waits_for_it) {
  Letters letters(Schedule::late);
  letters.enqueue(0, 'a');
  letters.enqueue(1, 'b');
  EXPECT_EQ(letters.ran, "");
  letters.queue.finish_stream(1);
  EXPECT_EQ(letters.ran, "b");
  letters.queue.finish_all();
  EXPECT_EQ(letters.ran, "ba");
  EXPECT_TRUE(letters.queue.empty());
}

TEST(WorkQueue, late_side_streams_come_last) {
  Letters letters(Schedule::late);
  letters.enqueue(1, 'a');
  letters.enqueue(0, 'b');
  letters.enqueue(2, 'c');
  letters.enqueue(0, 'd');
  letters.queue.finish_all();
  EXPECT_EQ(letters.ran, "bdac");
}

TEST(WorkQueue, what_a_stream_waits_for_runs_before_its_next_work_and_not_before_its_last) {
  Letters letters(Schedule::late);
  letters.enqueue(1, 'a');
  letters.enqueue(0, 'b');
  letters.wait(0, 1);
  letters.enqueue(0, 'c');
  letters.enqueue(1, 'd');
  letters.queue.finish_stream(0);
  EXPECT_EQ(letters.ran, "bac");
  EXPECT_THAT(letters.queue.frontier(0), IsEmpty());
}

TEST(WorkQueue, a_stream_without_work_of_its_own_passes_on_what_it_waits_for) {
  Letters letters(Schedule::late);
  letters.enqueue(1, 'a');
  letters.wait(2, 1);
  letters.wait(0, 2);
  letters.enqueue(0, 'b');
  letters.queue.finish_stream(0);
  EXPECT_EQ(letters.ran, "ab");
}

TEST(WorkQueue, a_full_queue_runs_its_oldest_work) {
  Letters letters(Schedule::late);
  for (size_t i = 0; i < WorkQueue::capacity; ++i) letters.enqueue(0, 'a');
  EXPECT_EQ(letters.ran, "");
  letters.enqueue(0, 'b');
  EXPECT_EQ(letters.ran, "a");
}

TEST(WorkQueue, work_that_throws_takes_the_rest_with_it) {
  Letters letters(Schedule::late);
  letters.queue.enqueue(0, [] { throw std::runtime_error("this work fails"); });
  letters.enqueue(0, 'a');
  EXPECT_THROW(letters.queue.finish_all(), std::runtime_error);
  EXPECT_TRUE(letters.queue.empty());
  letters.queue.finish_all();
  EXPECT_EQ(letters.ran, "");
}

/// Random work on three streams with random waits, and which work each must follow.
struct RandomWork {
  explicit RandomWork(uint64_t seed, Schedule schedule) {
    std::mt19937_64 random(seed);
    queue.start(schedule, seed);
    std::vector<std::vector<size_t>> last(3);
    for (size_t i = 0; i < 60; ++i) {
      const size_t stream = random() % 3, other = random() % 3;
      if (random() % 4 == 0) {
        queue.wait(static_cast<int64_t>(stream), queue.frontier(static_cast<int64_t>(other)));
        last[stream].insert(last[stream].end(), last[other].begin(), last[other].end());
      }
      if (random() % 8 == 0) queue.finish_stream(static_cast<int64_t>(other));
      const size_t number = follows.size();
      follows.push_back(last[stream]);
      last[stream] = {number};
      queue.enqueue(static_cast<int64_t>(stream), [this, number] { ran.push_back(number); });
    }
    queue.finish_all();
  }

  WorkQueue queue;
  std::vector<std::vector<size_t>> follows;
  std::vector<size_t> ran;
};

TEST(WorkQueue, every_schedule_runs_everything_once_and_after_what_it_must_follow) {
  for (const Schedule schedule : {Schedule::late, Schedule::shuffle}) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const RandomWork work(seed, schedule);
      ASSERT_EQ(work.ran.size(), work.follows.size());
      std::set<size_t> done;
      for (const size_t number : work.ran) {
        for (const size_t before : work.follows[number]) {
          EXPECT_TRUE(done.count(before)) << "seed " << seed;
        }
        EXPECT_TRUE(done.insert(number).second);
      }
    }
  }
}

std::string shuffled(uint64_t seed) {
  Letters letters(Schedule::shuffle, seed);
  for (const char letter : std::string("abcdef")) letters.enqueue(letter % 3, letter);
  letters.queue.finish_all();
  return letters.ran;
}

TEST(WorkQueue, shuffle_draws_the_order_from_its_seed_alone) {
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    orders.insert(shuffled(seed));
    EXPECT_EQ(shuffled(seed), shuffled(seed));
  }
  EXPECT_GT(orders.size(), 10U);
}

TEST(WorkQueue, shuffle_may_run_work_before_anybody_waits_for_it_and_may_leave_it) {
  bool at_once = false, later = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Letters letters(Schedule::shuffle, seed);
    letters.enqueue(0, 'a');
    (letters.ran.empty() ? later : at_once) = true;
  }
  EXPECT_TRUE(at_once);
  EXPECT_TRUE(later);
}

}  // namespace
}  // namespace thaw::sim
