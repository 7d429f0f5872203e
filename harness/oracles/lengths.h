// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "oracles/moment.h"

namespace thaw {

/// A row whose write position is neither the ledger's length nor the position of the last refill.
struct WrongLength {
  int64_t row = 0;
  int64_t ledger = 0;
  int64_t found = 0;
};

/// The first such row; rows that are not compared (see Moment::last_refill) cannot be wrong.
/// Shared by the oracles length and purity, which judge lengths the same way.
std::optional<WrongLength> find_wrong_length(const Moment& moment);

/// What the cache counted as refused; nothing if it keeps no such count.
std::optional<int64_t> refused_by_cache(const Moment& moment);

}  // namespace thaw
