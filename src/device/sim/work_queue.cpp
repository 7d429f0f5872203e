// SPDX-License-Identifier: Apache-2.0
#include "device/sim/work_queue.h"

#include <algorithm>
#include <utility>

namespace thaw::sim {

void WorkQueue::start(Schedule schedule, uint64_t seed) {
  schedule_ = schedule;
  random_.seed(seed);
  pending_.clear();
  frontiers_.clear();
}

WorkQueue::Id WorkQueue::enqueue(int64_t stream, std::function<void()> run) {
  while (pending_.size() >= capacity) {
    const Id oldest = pending_.begin()->first;
    finish(std::span(&oldest, 1));
  }
  const Id id = next_++;
  pending_.emplace(id, Work{frontier(stream), std::move(run)});
  frontiers_.resize(std::max(frontiers_.size(), static_cast<size_t>(stream) + 1));
  frontiers_[static_cast<size_t>(stream)] = {id};
  if (schedule_ == Schedule::shuffle) {
    for (uint64_t count = random_() % 3; count > 0 && !empty(); --count) run_any();
  }
  return id;
}

std::vector<WorkQueue::Id> WorkQueue::frontier(int64_t stream) const {
  std::vector<Id> last;
  if (static_cast<size_t>(stream) >= frontiers_.size()) return last;
  for (const Id id : frontiers_[static_cast<size_t>(stream)]) {
    if (is_pending(id)) last.push_back(id);
  }
  return last;
}

void WorkQueue::wait(int64_t stream, std::span<const Id> work) {
  if (work.empty()) return;
  frontiers_.resize(std::max(frontiers_.size(), static_cast<size_t>(stream) + 1));
  std::vector<Id>& last = frontiers_[static_cast<size_t>(stream)];
  last = frontier(stream);
  for (const Id id : work) {
    if (is_pending(id) && std::find(last.begin(), last.end(), id) == last.end()) last.push_back(id);
  }
}

bool WorkQueue::is_ready(const Work& work) const {
  return std::none_of(work.after.begin(), work.after.end(),
                      [this](Id before) { return is_pending(before); });
}

void WorkQueue::run(Id id) {
  const auto work = pending_.extract(id);
  try {
    work.mapped().run();
  } catch (...) {
    pending_.clear();
    throw;
  }
}

void WorkQueue::run_after_what_it_follows(Id id) {
  std::vector<Id> chain{id};
  while (!chain.empty()) {
    const auto work = pending_.find(chain.back());
    if (work == pending_.end()) {
      chain.pop_back();
      continue;
    }
    const std::vector<Id>& after = work->second.after;
    const auto before =
        std::find_if(after.begin(), after.end(), [this](Id other) { return is_pending(other); });
    if (before == after.end()) {
      run(chain.back());
    } else {
      chain.push_back(*before);
    }
  }
}

void WorkQueue::run_any() {
  std::vector<Id> ready;
  for (const auto& [id, work] : pending_) {
    if (is_ready(work)) ready.push_back(id);
  }
  run(ready[random_() % ready.size()]);
}

void WorkQueue::finish(std::span<const Id> work) {
  for (const Id id : work) {
    if (schedule_ != Schedule::shuffle) run_after_what_it_follows(id);
    while (is_pending(id)) run_any();
  }
}

void WorkQueue::finish_all() {
  if (empty()) return;
  finish_stream(0);
  while (!empty()) {
    const Id oldest = pending_.begin()->first;
    finish(std::span(&oldest, 1));
  }
}

}  // namespace thaw::sim
