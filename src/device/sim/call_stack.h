// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thaw::sim {

/// The functions that are running, innermost first, without those of LibTorch, of the standard
/// library and of the simulated device. Names need a program that exports its symbols.
std::vector<std::string> call_stack();

}  // namespace thaw::sim
