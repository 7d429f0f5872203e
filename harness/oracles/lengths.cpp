// SPDX-License-Identifier: Apache-2.0
#include "oracles/lengths.h"

#include <cstring>

namespace thaw {
namespace {

int64_t integer_at(std::span<const std::byte> bytes, size_t index) {
  int64_t value = 0;
  std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
  return value;
}

}  // namespace

std::optional<WrongLength> find_wrong_length(const Moment& moment) {
  std::vector<std::byte> scratch;
  const at::Tensor positions = moment.subject.cache().write_positions();
  const auto bytes = moment.device().read(positions, scratch);
  for (size_t row = 0; row < moment.last_refill.size(); ++row) {
    if (moment.last_refill[row] < 0) continue;
    const int64_t length = moment.ledger.length(static_cast<int64_t>(row));
    const int64_t found = integer_at(bytes, row);
    if (found != length && found != moment.last_refill[row]) {
      return WrongLength{static_cast<int64_t>(row), length, found};
    }
  }
  return {};
}

std::optional<int64_t> refused_by_cache(const Moment& moment) {
  for (const Buffer& buffer : moment.cache_buffers) {
    if (buffer.role != Role::refused) continue;
    std::vector<std::byte> scratch;
    return integer_at(moment.device().read(buffer.tensor, scratch), 0);
  }
  return {};
}

}  // namespace thaw
