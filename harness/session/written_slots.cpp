// SPDX-License-Identifier: Apache-2.0
#include "session/written_slots.h"

#include <algorithm>
#include <cstring>

namespace thaw {
namespace {

constexpr int64_t layer = 0, head = 0;

size_t entry_bytes(const Moment& moment) {
  const LayerSpec& spec = moment.subject.cache().spec().layers[layer];
  return static_cast<size_t>(spec.key_dim) * c10::elementSize(spec.key_dtype);
}

}  // namespace

/// The keys of every row and position, in that order, wherever the cache keeps them; zeros for a
/// position without a place.
std::vector<std::byte> WrittenSlots::entries(const Moment& moment) const {
  const KvCache& cache = moment.subject.cache();
  const size_t bytes = entry_bytes(moment);
  const size_t element = c10::elementSize(cache.spec().layers[layer].key_dtype);
  std::vector<std::byte> all(static_cast<size_t>(moment.ledger.rows() * moment.ledger.slots()) *
                             bytes);
  const std::vector<Buffer> buffers = cache.buffers();
  std::vector<std::byte> scratch;
  std::byte* to = all.data();
  for (int64_t row = 0; row < moment.ledger.rows(); ++row) {
    for (int64_t position = 0; position < moment.ledger.slots(); ++position, to += bytes) {
      const auto place = cache.locate(layer, row, head, position, Role::keys);
      if (!place) continue;
      const auto from = moment.device().read(buffers[place->buffer].tensor, scratch);
      for (int64_t i = 0; i < place->dim; ++i) {
        std::memcpy(to + static_cast<size_t>(i) * element,
                    from.data() + place->offset + i * place->stride, element);
      }
    }
  }
  return all;
}

void WrittenSlots::before_step(const Moment& moment) {
  if (moment.step > 0) before_ = entries(moment);
}

void WrittenSlots::after(const Moment& moment, Findings& /*findings*/) {
  if (moment.step == 0) return;
  Step step{.op = moment.op_number, .step = moment.step, .expected = {}, .written = {}};
  for (int64_t place = 0; place < moment.plan->places(); ++place) {
    const int64_t row = moment.plan->rows[static_cast<size_t>(place)];
    const int64_t first = moment.plan->positions[static_cast<size_t>(place)];
    if (row < 0) continue;
    for (int64_t p = first; p < moment.ledger.accepted_end(first, moment.plan->q_len); ++p) {
      step.expected.push_back({row, p});
    }
  }
  const std::vector<std::byte> now = entries(moment);
  const size_t bytes = entry_bytes(moment);
  for (size_t entry = 0; entry * bytes < now.size(); ++entry) {
    if (std::memcmp(now.data() + entry * bytes, before_.data() + entry * bytes, bytes) == 0) {
      continue;
    }
    const auto index = static_cast<int64_t>(entry);
    step.written.push_back({index / moment.ledger.slots(), index % moment.ledger.slots()});
  }
  steps_.push_back(std::move(step));
}

}  // namespace thaw
