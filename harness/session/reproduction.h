// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "session/token_tally.h"
#include "session/verdict.h"
#include "session/written_slots.h"
#include "subject/registry.h"

namespace thaw {

/// What becomes of memory that was freed, as far as a demonstration depends on it.
enum class FreedMemory { any, left_alone, filled_with_ones };

/// One way to keep a write position, shown under capture: the case, what must come out, and why.
struct Demonstration {
  std::string_view cache;
  std::string_view behaviour;  ///< "right", "frozen", "drifting", "split"
  std::string_view scenario;   ///< what is special about the case; empty: the usual one
  std::string_view case_text;  ///< without the setting `cache`
  FreedMemory freed_memory;    ///< that this shows
  std::vector<std::vector<int64_t>> slots;  ///< that each replay must write, right or wrong
  std::string_view why;
};

/// The right cache and all wrong ones, in the order in which they are explained best.
const std::vector<Demonstration>& demonstrations();

/// What came out.
struct Reproduction {
  const Demonstration* of = nullptr;
  Verdict verdict;
  std::vector<WrittenSlots::Step> replays;
  std::optional<TokenTally::Token> first_wrong_token;

  /// Whether every replay wrote what it must, and the right cache alone is clean.
  bool as_it_must() const;
};

/// Runs a demonstration on `device`, which must treat freed memory as the demonstration says.
Reproduction reproduce(const Demonstration& demonstration, Device& device, const Registry& registry,
                       Kernels kernels);

}  // namespace thaw
