// SPDX-License-Identifier: Apache-2.0
#include "zoo/zoo.h"

#include <fmt/format.h>

#include <string_view>

namespace thaw {

namespace zoo {

// What a file of faults/ or decoys/ defines.
#define THAW_FAULT(name, summary) Registry::MakeSubject name();
#define THAW_DECOY(name, summary) Registry::MakeSubject name();
#include "zoo/inventory.inc"
#undef THAW_FAULT
#undef THAW_DECOY

}  // namespace zoo

Registry full_registry() {
  Registry registry = Registry::standard();
#define THAW_FAULT(name, summary) registry.add({"zoo:" #name, summary, true, zoo::name()});
#define THAW_DECOY(name, summary) registry.add({"decoy:" #name, summary, false, zoo::name()});
#include "zoo/inventory.inc"
#undef THAW_FAULT
#undef THAW_DECOY
  return registry;
}

}  // namespace thaw
