// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thaw {

/// "thaw 0.1.0 (LibTorch 2.11.0, gcc 12.2.0)"
std::string version_text();

}  // namespace thaw
