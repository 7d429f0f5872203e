// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "device/device.h"

namespace thaw::sim {

/// Work that was enqueued on streams and has not run yet, and the order in which it runs.
///
/// Work runs when somebody waits for it, or for work that must follow it: work of one stream in the
/// order in which it was enqueued, and after what the stream was told to wait for. What that leaves
/// free is up to the schedule. `late`: as late as allowed, and where everything is waited for, the
/// default stream before all others. `shuffle`: in an order drawn from the seed, at any time from
/// the moment it was enqueued. With `early`, which is the default, nothing is ever enqueued.
///
/// Like a GPU's, the queue is bounded: enqueuing into a full one runs its oldest work. Not
/// thread-safe.
class WorkQueue {
 public:
  using Id = uint64_t;  ///< grows with each work that is enqueued; never used again
  static constexpr size_t capacity = 1024;

  /// What is pending is dropped.
  void start(Schedule schedule, uint64_t seed);
  /// Whether work is enqueued at all.
  bool defers() const { return schedule_ != Schedule::early; }
  bool empty() const { return pending_.empty(); }

  /// What throws when it runs goes through the call that made it run, and what was pending is
  /// dropped.
  Id enqueue(int64_t stream, std::function<void()> run);
  /// The last work of a stream, with what it has to wait for since: what an event stands for.
  std::vector<Id> frontier(int64_t stream) const;
  /// The stream's next work follows this.
  void wait(int64_t stream, std::span<const Id> work);

  /// Runs this work, if it is pending, and everything that it follows.
  void finish(std::span<const Id> work);
  void finish_stream(int64_t stream) { finish(frontier(stream)); }
  void finish_all();

  Schedule schedule() const { return schedule_; }
  uint64_t draw() { return random_(); }  ///< a number from the seed

 private:
  struct Work {
    std::vector<Id> after;
    std::function<void()> run;
  };

  bool is_pending(Id id) const { return pending_.count(id) > 0; }
  bool is_ready(const Work& work) const;
  void run(Id id);
  void run_after_what_it_follows(Id id);
  void run_any();

  Schedule schedule_ = Schedule::early;
  std::mt19937_64 random_;
  std::map<Id, Work> pending_;
  std::vector<std::vector<Id>> frontiers_;  ///< by stream
  Id next_ = 1;
};

}  // namespace thaw::sim
