// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thaw::sim {

/// LibTorch's operators (without "aten::") that have a kernel for CPU and another, composed of
/// other operators, for every backend without one of its own. That one would outrank the backend's
/// fallback and compute by other steps than the CPU (other rounding, other nodes), so the fallback
/// is registered for each of these by name. This is the list in the source (shadowed.inc) ...
std::vector<std::string> shadowed_operators();
/// ... and this the one of the LibTorch that runs. A test holds one against the other.
std::vector<std::string> find_shadowed_operators();

}  // namespace thaw::sim
