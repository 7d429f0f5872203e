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

Device& CommandContext::device(bool fill_freed_memory) {
  fill_freed_memory = fill_freed_memory && program.fills_freed_memory;
  if (device_ == nullptr || fill_freed_memory_ != fill_freed_memory) {
    device_.reset();
    device_ = program.make(fill_freed_memory);
    fill_freed_memory_ = fill_freed_memory;
  }
  return *device_;
}

}  // namespace thaw
