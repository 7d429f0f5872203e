// SPDX-License-Identifier: Apache-2.0
//
// Follows kekzl/imp#1417.
//
// A launch of the graph fails, and the caller goes on as if it had run: it neither makes the step
// eagerly nor tells anybody. It reads the output of the step before.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class FailedReplayIgnored final : public Subject {
 public:
  using Subject::Subject;

 protected:
  void launch_failed() override {}
};

}  // namespace

Registry::MakeSubject failed_replay_ignored() { return with_caller<FailedReplayIgnored>(); }

}  // namespace thaw::zoo
