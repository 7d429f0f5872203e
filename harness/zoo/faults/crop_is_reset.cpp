// SPDX-License-Identifier: Apache-2.0
//
// Follows paiml/aprender#2014.
//
// Rolling back a rejected draft takes the host's state to the length that is kept, and calls reset
// on the device's: all lengths there are zero.

#include "zoo/parts.h"

namespace thaw::zoo {
namespace {

class CropIsReset final : public StaticCache {
 public:
  using StaticCache::StaticCache;
  void crop(int64_t row, int64_t /*length*/) override { StaticCache::crop(row, 0); }
};

}  // namespace

Registry::MakeSubject crop_is_reset() { return made_of<CropIsReset>(); }

}  // namespace thaw::zoo
