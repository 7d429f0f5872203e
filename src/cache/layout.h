// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace thaw {

/// Which slot a position lies in (R9). linear: slot = position. ring: position mod slots.
/// shift: the position until the row is full, then position - length + slots: every further entry
/// moves all others. A ring and a shifting row keep the last entries; a linear one, the first.
enum class Layout { linear, ring, shift };

}  // namespace thaw
