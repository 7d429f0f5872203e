// SPDX-License-Identifier: Apache-2.0
#include "session/token_tally.h"

#include <algorithm>

namespace thaw {

void TokenTally::after(const Moment& moment, Findings& /*findings*/) {
  if (!moment.committed) return;
  const int64_t replayed = moment.op.kind == OpKind::replay ? 1 : 0;
  for (int64_t place = 0; place < moment.plan->places(); ++place) {
    const int64_t row = moment.plan->rows[static_cast<size_t>(place)];
    if (row < 0) continue;
    const int64_t from = moment.plan->positions[static_cast<size_t>(place)];
    const int64_t to = moment.ledger.accepted_end(from, moment.plan->q_len);
    for (int64_t position = from; position < to; ++position) {
      ++tokens_;
      replayed_ += replayed;
      if (moment.contents_match ||
          moment.image.token_matches(moment.device(), moment.cache_buffers, row, position)) {
        continue;
      }
      ++wrong_;
      replayed_wrong_ += replayed;
      if (!first_wrong_) {
        first_wrong_ = Token{moment.op_number, moment.step, row, position, tokens_};
      }
    }
  }
}

}  // namespace thaw
