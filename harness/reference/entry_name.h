// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cache/kv_cache.h"

namespace thaw {

/// The name of one entry of a cache.
struct EntryName {
  int64_t layer = 0, row = 0, head = 0, position = 0;
  Role role = Role::keys;
};
/// "layer 0, row 1, head 0, position 7, keys"
std::string to_string(const EntryName& entry);

}  // namespace thaw
