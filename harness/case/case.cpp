// SPDX-License-Identifier: Apache-2.0
#include "case/case.h"

#include <algorithm>

namespace thaw {

int64_t Case::q_len_max() const {
  int64_t q_len = 1;
  for (const Line<Op>& line : ops) {
    q_len = std::max(q_len, q_len_of(line.value));
  }
  return q_len;
}

int64_t Case::q_len_of(const Op& op) {
  // A load is announced to the cache as a prefill of the same length would be.
  const bool whole_prompt = op.kind == OpKind::prefill || op.kind == OpKind::load;
  return whole_prompt ? op.count : op.q;
}

}  // namespace thaw
