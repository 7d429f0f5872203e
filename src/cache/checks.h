// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "cache/kv_cache.h"
#include "cache/step_plan.h"

namespace thaw {

/// The host-side preconditions that all caches share. Each throws std::invalid_argument with a
/// sentence that says what was expected and what was found.

/// At least one row, slot, token and layer; heads and dimensions of at least one.
void check_spec(const CacheSpec& spec);

/// 1 to spec.rows places, 1 to q_len_max tokens, rows from -1 to spec.rows - 1. Positions may be
/// anything: what lies outside the cache is skipped and counted on the device.
void check_plan(const CacheSpec& spec, const StepPlan& plan);

void check_row(const CacheSpec& spec, int64_t row);
void check_length(const CacheSpec& spec, int64_t length);
void check_reorder(const CacheSpec& spec, std::span<const int64_t> from,
                   std::span<const int64_t> lengths);

}  // namespace thaw
