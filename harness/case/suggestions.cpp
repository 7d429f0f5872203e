// SPDX-License-Identifier: Apache-2.0
#include "case/suggestions.h"

#include <algorithm>
#include <array>
#include <limits>

namespace thaw {
namespace {

constexpr size_t length_max = 32;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  if (a.size() > length_max || b.size() > length_max) return std::numeric_limits<size_t>::max();
  using Row = std::array<size_t, length_max + 1>;
  // distances[i][j]: from the first i letters of a to the first j letters of b.
  std::array<Row, length_max + 1> distances{};
  for (size_t i = 0; i <= a.size(); ++i) distances[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) distances[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      size_t best = distances[i - 1][j - 1] + (same ? 0 : 1);
      best = std::min({best, distances[i - 1][j] + 1, distances[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) best = std::min(best, distances[i - 2][j - 2] + 1);
      distances[i][j] = best;
    }
  }
  return distances[a.size()][b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  const size_t near = word.size() < 7 ? 1 : 2;
  size_t best = near + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace thaw
