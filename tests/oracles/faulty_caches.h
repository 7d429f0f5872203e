// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "subject/registry.h"

namespace thaw {

/// The standard caches and, each under its own name, caches with one fault for one oracle:
///
/// test:length_off_by_one      reports one more than its write position
/// test:reset_makes_new_table  reset replaces a buffer that steps use by a new tensor
/// test:constant_overwritten   each step increments a buffer that it calls a constant
/// test:inputs_overwritten     each step overwrites the caller's positions
/// test:values_for_keys        attention is handed values where keys belong
/// test:writes_one_slot_on     entries go one slot further than the caller says
/// test:spills_into_next_row   each step also touches the last slot of the next row
/// test:reads_back             the step reads a value back on the host
/// test:copies_pageable        the step copies from pageable memory
/// test:index_out_of_range     a gather whose index leaves its table once a row is long
/// test:throws                 the step throws once a row is long
/// test:counts_no_refusals     refused entries are skipped but not counted
/// test:wake_clears_constants  wake initialises anew what it calls a constant
///
/// and with a fault in the caller:
///
/// test:holds_static_storage   keeps the buffer that a step returned, not what was in it
/// test:key_without_rows       serves by the youngest graph there is, whatever its bucket
/// test:ignores_failed_launch  does not make up for a launch that failed
/// test:loses_loads            what is loaded never arrives
Registry faulty_registry();

}  // namespace thaw
