// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "case/case.h"

namespace thaw {

/// A way to a capture. All but the first differ from the first, A, in one thing that a host may
/// have counted.
struct AuditState {
  std::string_view differs_in;  ///< "the position"; empty for A itself
  std::string ops;              ///< lines of the case language; the graph in question is named g
};

/// The states for a step of `q_len` tokens, A first. A: both tokens and steps were taken, every row
/// has a length of 5. `several_tokens`: whether the cache takes prompts in one step.
std::vector<AuditState> audit_states(const Settings& settings, int64_t q_len, bool several_tokens);

/// One run with two captures of the same step, f and then g, with everything between them that
/// makes buffers move: other numbers of tokens, a reset, a new prompt.
std::string ops_between_two_captures(int64_t q_len, bool several_tokens);

}  // namespace thaw
