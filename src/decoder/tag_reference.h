// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "decoder/tag.h"

namespace thaw {

/// What the device must have written for `tag`: its digits, repeated over all elements of `entry`
/// (twelve or more). Computed on the host, for those who judge what a step wrote.
void expected_entry(const Tag& tag, std::span<float> entry);

}  // namespace thaw
