// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "case/case.h"

namespace thaw {

class Ledger;

/// A precondition that an op breaks (section 4), and the word of its line that is to blame. Plain
/// integers: whoever searches for valid cases asks often and pays for no text.
struct Obstacle {
  enum class Kind : uint8_t {
    count_out_of_bounds,  ///< N or L is not `least` to `most`
    no_such_row,          ///< `row` is not below the case's rows
    row_is_idle,          ///< crop, park, and FROM of copy need a sequence
    row_is_parked,        ///< prefill, load, crop, park, and TO of copy need it in the batch
    row_is_not_parked,    ///< unpark
    row_is_shorter,       ///< crop: `row` has length `most`
    row_has_evicted,      ///< crop: `row` is longer than its `most` slots (R9)
    warmup_evicts,        ///< warmup: `row` has no room for it in its `most` slots (R9)
    no_row_for_all,       ///< `all` matches no row (R3)
    no_live_row,          ///< decode, serve
    same_row,             ///< copy
    wrong_row_count,      ///< reorder takes one row number per row
    graph_exists,         ///< capture (R15)
    no_such_graph,        ///< replay, drop
    no_such_bucket,       ///< rows=B is not `least` to `most`
    no_step_yet,          ///< hold
    armed_already,        ///< fail
  };
  Kind kind = Kind::no_such_row;
  int64_t word = 0;  ///< which word of the line, from 0, which is the op's name
  int64_t row = -1;
  int64_t least = 0;
  int64_t most = 0;
  bool operator==(const Obstacle&) const = default;
};

/// "capture: graph 'g' exists; 'drop g' first or take another name": what is there and what to do,
/// in the words of section 6. `since`, such as " since line 4", tells how long a row has been
/// parked or a graph has existed.
std::string explain(const Ledger& ledger, const Op& op, const Obstacle& obstacle,
                    std::string_view since = {});

}  // namespace thaw
