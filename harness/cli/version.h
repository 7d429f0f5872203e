// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/run_program.h"

namespace thaw {

/// "thaw 0.1.0 (LibTorch 2.11.0, gcc 12.2.0)"
std::string version_text(const ProgramDevice& device);

}  // namespace thaw
