// SPDX-License-Identifier: Apache-2.0
#include "reference/entry_log.h"

#include <functional>
#include <string_view>
#include <utility>

namespace thaw {
namespace {

uint64_t hash_of(std::span<const float> elements) {
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
}

}  // namespace

void EntryLog::add(std::span<const float> elements, const Tag& tag) {
  if (newest_.size() == capacity_) older_ = std::exchange(newest_, {});
  newest_.insert_or_assign(hash_of(elements), tag);
}

std::optional<Tag> EntryLog::find(std::span<const float> elements) const {
  const uint64_t hash = hash_of(elements);
  for (const Entries* entries : {&newest_, &older_}) {
    if (const auto found = entries->find(hash); found != entries->end()) return found->second;
  }
  return {};
}

}  // namespace thaw
