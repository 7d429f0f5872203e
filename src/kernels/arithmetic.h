// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/arguments.h"

#ifdef __CUDACC__
#define THAW_HOST_DEVICE __host__ __device__
#else
#define THAW_HOST_DEVICE
#endif

/// The arithmetic that CPU and CUDA kernels share. Rows and positions may be any int64: whatever a
/// faulty caller left in device memory must end in a skipped or refused token, never in an overflow
/// or an access out of bounds.
namespace thaw::kernels {

THAW_HOST_DEVICE constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
THAW_HOST_DEVICE constexpr int64_t larger(int64_t a, int64_t b) { return a < b ? b : a; }

THAW_HOST_DEVICE constexpr bool is_padding(int64_t row, int64_t position) {
  return row == -1 || position == -1;
}

/// The position of a token of a place. Wraps around, of which only hostile positions can tell.
THAW_HOST_DEVICE constexpr int64_t position_of(int64_t first, int64_t token) {
  return static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(token));
}

/// A half-open range of tokens of a place, or of positions of a row.
struct Range {
  int64_t begin = 0, end = 0;
  THAW_HOST_DEVICE constexpr int64_t size() const { return end - begin; }
};

/// The tokens of 0 .. q_len - 1 whose position, first + token, lies in [0, slots).
THAW_HOST_DEVICE constexpr Range tokens_inside(int64_t first, int64_t q_len, int64_t slots) {
  if (first <= -q_len || first >= slots) return {};
  return {larger(0, -first), smaller(q_len, slots - first)};
}

/// How the entries of a row lie in its slots, and how many of them are seen.
struct Sight {
  int64_t q_len = 1;   ///< tokens of the step, all of them written before any of them sees
  int64_t window = 0;  ///< the last so many; 0: all
  bool ring = false;
  int64_t capacity = 1;  ///< slots of the row
};

/// The positions that token `token` of a place sees: up to its own, of those the last `window`, of
/// those the ones that have an entry. In a ring that are the last `capacity` of the row, with those
/// of the step itself; else a position is its slot. 2^62 stands for all positions that are larger.
THAW_HOST_DEVICE constexpr Range visible_positions(int64_t first, int64_t token,
                                                   const Sight& sight) {
  constexpr int64_t largest = int64_t{1} << 62;
  if (first < -token) return {};
  first = smaller(first, largest);
  int64_t end = first + token + 1;
  int64_t begin = sight.window == 0 ? 0 : larger(0, end - sight.window);
  if (sight.ring) {
    begin = larger(begin, first + sight.q_len - sight.capacity);
  } else {
    end = smaller(end, sight.capacity);
  }
  return {smaller(begin, end), end};
}

/// How many digits a tag has; see decoder/tag.h for what they are.
inline constexpr int64_t tag_digits = 12;

/// The digits of one entry's tag but for the check, as 4-bit groups of one integer, the first digit
/// lowest. Fields keep their low bits, as digits of two's complement do.
struct PackedTag {
  uint64_t digits = 0;

  THAW_HOST_DEVICE constexpr PackedTag row(int64_t row) const { return with(row, 0xF, 0); }
  THAW_HOST_DEVICE constexpr PackedTag position(int64_t position) const {
    return with(position, 0xFFF, 4);
  }
  THAW_HOST_DEVICE constexpr PackedTag generation(int64_t generation) const {
    return with(generation, 0xFFFF, 16);
  }
  THAW_HOST_DEVICE constexpr PackedTag layer(int64_t layer) const { return with(layer, 0xF, 32); }
  THAW_HOST_DEVICE constexpr PackedTag head(int64_t head) const { return with(head, 0xF, 36); }
  THAW_HOST_DEVICE constexpr PackedTag value(bool value) const { return with(value, 1, 40); }

  THAW_HOST_DEVICE constexpr uint8_t digit(int64_t index) const {
    return static_cast<uint8_t>(digits >> (4 * index) & 0xF);
  }

  /// One more than the sum of digit i times 2 i + 1, modulo 16. Odd weights: every change of a
  /// single digit shows. Different weights: so do two neighbours that were exchanged, unless they
  /// differ by 8. The one more: twelve equal digits are no tag, zeros least of all.
  THAW_HOST_DEVICE constexpr uint8_t check() const {
    uint64_t sum = 1;
    for (int64_t i = 0; i + 1 < tag_digits; ++i) sum += digit(i) * static_cast<uint64_t>(2 * i + 1);
    return static_cast<uint8_t>(sum & 0xF);
  }

  /// All twelve digits.
  THAW_HOST_DEVICE constexpr PackedTag checked() const {
    return {digits | static_cast<uint64_t>(check()) << (4 * (tag_digits - 1))};
  }

 private:
  THAW_HOST_DEVICE constexpr PackedTag with(int64_t field, uint64_t mask, int shift) const {
    return {digits | (static_cast<uint64_t>(field) & mask) << shift};
  }
};

}  // namespace thaw::kernels
