// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

namespace thaw {

ExitStatus exit_status_of(const Verdict& verdict) {
  switch (verdict.status) {
    case Verdict::Status::clean:
      return ExitStatus::clean;
    case Verdict::Status::findings:
      return ExitStatus::findings;
    case Verdict::Status::incomplete:
      return ExitStatus::incomplete;
  }
  return ExitStatus::harness_failed;
}

SimDevice& CommandContext::device(bool poison_freed) {
  if (device_ == nullptr || poison_freed_ != poison_freed) {
    device_.reset();
    device_ = std::make_unique<SimDevice>(SimOptions{.poison_freed = poison_freed});
    poison_freed_ = poison_freed;
  }
  return *device_;
}

}  // namespace thaw
