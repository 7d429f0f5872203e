// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace thaw {

/// What a K/V entry says about itself. As numbers: twelve digits of 0..15, exact in every dtype
/// down to fp8: row 1, position 3, generation 4, layer 1, head 1, key or value 1, check 1. An
/// entry of more than twelve elements repeats them.
struct Tag {
  static constexpr int64_t digit_count = 12;
  using Digits = std::array<uint8_t, digit_count>;

  int64_t row = 0;         ///< 0..15
  int64_t position = 0;    ///< 0..4095
  int64_t generation = 0;  ///< number of the op that wrote it, modulo 65536
  int64_t layer = 0;       ///< 0..15
  int64_t head = 0;        ///< 0..15
  bool value = false;      ///< of a value entry, not of a key entry

  bool operator==(const Tag&) const = default;

  /// Digits, least significant first within each field; the last is a check on the others, a
  /// weighted sum. Of a field out of range the low bits.
  Digits digits() const;
  /// The tag that an entry of at least twelve elements holds, or nothing if the digits, their
  /// repetition or the check are wrong. What the check alone catches: one wrong digit, always; two
  /// neighbours exchanged, unless they differ by 8; twelve equal digits. Of other damage within
  /// the first twelve elements it misses one case in sixteen.
  static std::optional<Tag> parse(std::span<const float> entry);
};

/// What an unowned slot holds: finite (a NaN behind a mask would poison attention), exact in fp8,
/// and no digit.
constexpr float unowned_slot = -96.0F;

/// "row 1, position 7, written by op 6 (key, layer 0, head 0)".
std::string describe(const Tag& tag);

/// What stands where nobody wrote: "nothing (unowned)"; or "0xFF bytes", with which memory of
/// nobody is filled, in any dtype. Empty if the entry is neither.
std::string describe_unwritten(std::span<const float> entry);
/// "3, 1, 0, ...", twelve elements at most.
std::string list_elements(std::span<const float> entry);
/// What an entry holds: its tag as above; what describe_unwritten says; or "no tag: 3, 1, 0, ...".
std::string describe_entry(std::span<const float> entry);

}  // namespace thaw
