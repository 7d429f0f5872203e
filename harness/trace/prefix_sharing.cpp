// SPDX-License-Identifier: Apache-2.0
#include "trace/prefix_sharing.h"

#include <unordered_set>

namespace thaw {

PrefixSharing prefix_sharing(std::span<const Request> requests) {
  PrefixSharing sharing;
  std::unordered_set<int64_t> seen;
  for (const Request& request : requests) {
    bool in_prefix = true;
    for (const int64_t block : request.blocks) {
      const bool known = seen.contains(block);
      in_prefix = in_prefix && known;
      ++sharing.blocks;
      if (known) ++sharing.seen_before;
      if (in_prefix) ++sharing.in_prefixes;
    }
    if (!request.blocks.empty() && seen.contains(request.blocks.front())) ++sharing.requests;
    seen.insert(request.blocks.begin(), request.blocks.end());
  }
  return sharing;
}

}  // namespace thaw
