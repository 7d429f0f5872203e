// SPDX-License-Identifier: Apache-2.0
#include "reference/entry_name.h"

#include <fmt/format.h>

namespace thaw {

std::string to_string(const EntryName& entry) {
  return fmt::format("layer {}, row {}, head {}, position {}, {}", entry.layer, entry.row,
                     entry.head, entry.position, entry.role == Role::keys ? "keys" : "values");
}

}  // namespace thaw
