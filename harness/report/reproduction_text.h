// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "report/style.h"
#include "session/reproduction.h"

namespace thaw {

/// Two caches through the same case, side by side: which slot each replay wrote, and which it
/// should have; the first wrong token and output of the second, and why.
std::string reproduction_picture(const Reproduction& right, const Reproduction& wrong,
                                 const Style& style);

/// "counter:device_in_place, prompt loaded after the capture, not the count: drifting"
std::string reproduction_title(const Demonstration& demonstration);

/// One line a demonstration: the slots that each replay wrote, and what that is called.
std::string reproduction_table(std::span<const Reproduction> rows, const Style& style);

}  // namespace thaw
