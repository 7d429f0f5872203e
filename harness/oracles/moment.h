// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "case/case.h"
#include "ledger/ledger.h"
#include "oracles/expected_image.h"
#include "subject/subject.h"

namespace thaw {

/// What went wrong on the device, or in the subject's own code, during an op.
struct Failure {
  int code = 0;  ///< the device's error number; 0: an exception of the subject's own
  std::string text;
  bool in_capture = false;
};

/// The point of time at which oracles look: after a step, or after an op that makes none.
struct Moment {
  const Settings& settings;
  int64_t op_number;  ///< from 1
  const Op& op;
  int64_t step;          ///< from 1; 0: the op makes no steps
  const StepPlan* plan;  ///< of this step, or of the refill before a capture; else null
  bool committed;        ///< the step's entries are in the ledger now

  const Ledger& ledger;  ///< after the step
  const ExpectedImage& image;
  const Reference& reference;
  const Subject& subject;
  std::span<const Buffer> cache_buffers;  ///< after a step; empty before one
  /// Per row the position of the last refill, or where a row op moved the row since; -1: the row
  /// is not compared (idle, or padded in the last step).
  std::span<const int64_t> last_refill;
  const std::optional<Failure>& failure;
  bool contents_match;  ///< keys and values are bit for bit as the image has them

  const Device& device() const { return subject.device(); }
};

/// Whether an op may change committed slots, lengths or inputs (R11, R12, section 5 of the
/// language).
bool commits_nothing(OpKind kind);

}  // namespace thaw
