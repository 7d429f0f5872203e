// SPDX-License-Identifier: Apache-2.0
//
// Follows NVIDIA/TensorRT-LLM#14326.
//
// Of what a replay returns the caller is given a copy of the first output, and the static storage
// itself of all others. The next step overwrites what the caller still holds. Here the step has
// one output, one of the others.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class SecondOutputNotCopied final : public Subject {
 public:
  using Subject::Subject;
  void hold() override { held_ = returned(); }
};

}  // namespace

Registry::MakeSubject second_output_not_copied() { return with_caller<SecondOutputNotCopied>(); }

}  // namespace thaw::zoo
