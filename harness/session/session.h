// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "case/case.h"
#include "ledger/ledger.h"
#include "oracles/oracle.h"
#include "session/verdict.h"
#include "subject/registry.h"

namespace thaw {

/// How a case is run; what it says is in the case.
struct RunOptions {
  std::string cache;  ///< instead of the case's own; empty: the case's own
  Kernels kernels = Kernels::registered;
  /// More who look on, beside the oracles; they must outlive the run.
  std::vector<Oracle*> observers;
};

/// Runs a valid case (see validate_case) on a device that is reset first, and judges every step.
///
/// The session is the caller of the language: it refills the inputs of every step from the ledger
/// (R5), marks what nobody owns (R10), and goes on after a finding (R23). A verdict is incomplete
/// where the case needs another device or more than the cache is able to do. Throws UnknownCache
/// if no cache of that name is registered.
Verdict run_case(const Case& c, Device& device, const Registry& registry,
                 const RunOptions& options = {});

}  // namespace thaw
