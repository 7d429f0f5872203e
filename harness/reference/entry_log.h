// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "decoder/tag.h"

namespace thaw {

/// Remembers which elements belong to which entry, for reports: an entry of real arithmetic says
/// nothing about itself. Keeps between capacity and twice as many of the newest.
class EntryLog {
 public:
  explicit EntryLog(size_t capacity = size_t{1} << 16) : capacity_(capacity) {}

  void add(std::span<const float> elements, const Tag& tag);
  /// The newest entry of these very elements.
  std::optional<Tag> find(std::span<const float> elements) const;

 private:
  using Entries = std::unordered_map<uint64_t, Tag>;  ///< by hash of the elements
  size_t capacity_;
  Entries newest_, older_;
};

}  // namespace thaw
