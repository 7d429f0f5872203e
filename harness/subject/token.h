// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "decoder/llama_spec.h"

namespace thaw {

/// The token that the caller feeds at `position` of `row` in an op of this generation: drawn from
/// the seed of the case, below the vocabulary. Ops differ in their tokens, so that entries of real
/// arithmetic tell, like tags, which op wrote them.
constexpr int64_t token_at(uint64_t seed, int64_t row, int64_t position, int64_t generation) {
  uint64_t mixed = seed + 0x9E3779B97F4A7C15U * static_cast<uint64_t>(row + 1);
  for (const int64_t part : {position, generation}) {
    mixed = (mixed ^ static_cast<uint64_t>(part)) * 0xBF58476D1CE4E5B9U;
    mixed ^= mixed >> 31;
  }
  return static_cast<int64_t>(mixed >> 33) % LlamaSpec{}.vocabulary;
}

}  // namespace thaw
