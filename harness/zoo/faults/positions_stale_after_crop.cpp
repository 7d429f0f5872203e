// SPDX-License-Identifier: Apache-2.0
//
// Follows spiritbuun/buun-llama-cpp#116, whose cause is open: this one is assumed.
//
// The caller does not work out positions anew when a replay has the batch and the query length of
// the replay before: it counts on from there. A rollback in between is forgotten.

#include <string>
#include <vector>

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class PositionsStaleAfterCrop final : public Subject {
 public:
  using Subject::Subject;

  void refill(const StepPlan& plan, int64_t generation) override {
    const bool counts_on = replayed_ && plan.q_len == plan_.q_len && plan.rows == plan_.rows;
    const std::vector<int64_t> next = plan_.positions;
    plan_ = plan;
    if (counts_on) {
      for (size_t place = 0; place < next.size(); ++place) {
        if (next[place] >= 0) plan_.positions[place] = next[place] + plan_.q_len;
      }
    }
    Subject::refill(plan_, generation);
  }

  void step() override {
    replayed_ = false;
    Subject::step();
  }
  void capture(const std::string& name, const std::string& pool) override {
    replayed_ = false;
    Subject::capture(name, pool);
  }
  void replay(const std::string& name) override {
    replayed_ = true;
    Subject::replay(name);
  }

 private:
  StepPlan plan_;
  bool replayed_ = false;  ///< the last step was a replay
};

}  // namespace

Registry::MakeSubject positions_stale_after_crop() {
  return with_caller<PositionsStaleAfterCrop>();
}

}  // namespace thaw::zoo
