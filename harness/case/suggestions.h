// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace thaw {

/// How many letters must be put in, taken out, changed or swapped with their neighbour to turn one
/// word into the other (optimal string alignment: no letter is touched twice). Upper and lower case
/// count as the same. Words longer than 32 letters are nowhere near anything.
size_t edit_distance(std::string_view a, std::string_view b);

/// The word that somebody who wrote `word` probably meant, the first of the nearest ones; empty
/// where none is near: short words may be one edit away, longer ones two.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace thaw
