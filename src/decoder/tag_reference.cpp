// SPDX-License-Identifier: Apache-2.0
#include "decoder/tag_reference.h"

namespace thaw {

void expected_entry(const Tag& tag, std::span<float> entry) {
  const Tag::Digits digits = tag.digits();
  for (size_t i = 0; i < entry.size(); ++i)
    entry[i] = static_cast<float>(digits[i % digits.size()]);
}

}  // namespace thaw
