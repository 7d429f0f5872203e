// SPDX-License-Identifier: Apache-2.0
#include "decoder/tag.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "kernels/arithmetic.h"

namespace thaw {
namespace {

static_assert(Tag::digit_count == kernels::tag_digits);

constexpr auto digit_count = static_cast<size_t>(Tag::digit_count);

/// The number that `count` digits from index `first` on make.
int64_t number(const Tag::Digits& digits, size_t first, size_t count) {
  int64_t result = 0;
  for (size_t i = count; i-- > 0;) result = 16 * result + digits[first + i];
  return result;
}

/// A NaN that 0xFF bytes of some dtype become as float: every dtype's mantissa begins with ones,
/// while a NaN that arithmetic makes has one leading one.
bool all_ones(float element) { return std::bit_cast<uint32_t>(element) >> 20 == 0xFFF; }

}  // namespace

Tag::Digits Tag::digits() const {
  const auto packed = kernels::PackedTag()
                          .row(row)
                          .position(position)
                          .generation(generation)
                          .layer(layer)
                          .head(head)
                          .value(value)
                          .checked();
  Digits result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = packed.digit(static_cast<int64_t>(i));
  return result;
}

std::optional<Tag> Tag::parse(std::span<const float> entry) {
  if (entry.size() < digit_count) return std::nullopt;
  Digits digits;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (!(entry[i] >= 0 && entry[i] <= 15)) return std::nullopt;
    digits[i] = static_cast<uint8_t>(entry[i]);
  }
  for (size_t i = 0; i < entry.size(); ++i) {
    if (entry[i] != static_cast<float>(digits[i % digit_count])) return std::nullopt;
  }
  const Tag tag{.row = number(digits, 0, 1),
                .position = number(digits, 1, 3),
                .generation = number(digits, 4, 4),
                .layer = number(digits, 8, 1),
                .head = number(digits, 9, 1),
                .value = digits[10] == 1};
  // The digits of the tag that was found: settles the check and that key or value is 0 or 1.
  if (tag.digits() != digits) return std::nullopt;
  return tag;
}

std::string describe(const Tag& tag) {
  return fmt::format("row {}, position {}, written by op {} ({}, layer {}, head {})", tag.row,
                     tag.position, tag.generation, tag.value ? "value" : "key", tag.layer,
                     tag.head);
}

std::string describe_unwritten(std::span<const float> entry) {
  if (entry.empty()) return "";
  const auto unowned = [](float element) { return element == unowned_slot; };
  if (std::all_of(entry.begin(), entry.end(), unowned)) return "nothing (unowned)";
  if (std::all_of(entry.begin(), entry.end(), all_ones)) return "0xFF bytes";
  return "";
}

std::string list_elements(std::span<const float> entry) {
  const auto shown = entry.first(std::min(entry.size(), digit_count));
  return fmt::format("{:g}{}", fmt::join(shown, ", "), shown.size() < entry.size() ? ", ..." : "");
}

std::string describe_entry(std::span<const float> entry) {
  if (const auto tag = Tag::parse(entry)) return describe(*tag);
  if (std::string text = describe_unwritten(entry); !text.empty()) return text;
  return "no tag: " + list_elements(entry);
}

}  // namespace thaw
