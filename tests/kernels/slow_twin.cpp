// SPDX-License-Identifier: Apache-2.0
#include "kernels/slow_twin.h"

#include <algorithm>
#include <array>

namespace thaw::slow_twin {
namespace {

// Wide enough for the sum of any two int64.
__extension__ using Wide = __int128;

int64_t number(const at::Tensor& numbers, int64_t index) {
  return numbers.const_data_ptr<int64_t>()[index];
}

bool padded(const at::Tensor& rows, const at::Tensor& positions, int64_t place) {
  return number(rows, place) == -1 || number(positions, place) == -1;
}

bool inside(Wide index, int64_t size) { return index >= 0 && index < size; }

/// Entry [dim] of keys or values, undefined where `slot` of `row` is nowhere.
at::Tensor entry_at(const at::Tensor& entries, const at::Tensor& block_table, int64_t row,
                    int64_t head, int64_t slot) {
  if (!block_table.defined()) return entries[row][head][slot];
  const int64_t block_size = entries.size(2);
  const int64_t block = number(block_table[row], slot / block_size);
  return inside(block, entries.size(0)) ? entries[block][head][slot % block_size] : at::Tensor();
}

int64_t modulo(Wide number, int64_t divisor) {
  return static_cast<int64_t>((number % divisor + divisor) % divisor);
}

std::array<int64_t, 12> tag_digits(int64_t row, Wide position, int64_t generation, int64_t layer,
                                   int64_t head, bool value) {
  std::array<int64_t, 12> digits{};
  size_t next = 0;
  const auto add = [&](Wide field, int count) {
    for (int64_t rest = modulo(field, 65536); count > 0; --count, rest /= 16) {
      digits[next++] = rest % 16;
    }
  };
  add(row, 1);
  add(position, 3);
  add(generation, 4);
  add(layer, 1);
  add(head, 1);
  add(value ? 1 : 0, 1);
  constexpr std::array weights{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21};
  digits[11] = 1;
  for (size_t i = 0; i < weights.size(); ++i) digits[11] += weights[i] * digits[i];
  digits[11] %= 16;
  return digits;
}

}  // namespace

void append_(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& new_keys,
             const at::Tensor& new_values, const at::Tensor& rows, const at::Tensor& positions) {
  for (int64_t place = 0; place < rows.size(0); ++place) {
    for (int64_t token = 0; token < new_keys.size(2); ++token) {
      const int64_t row = number(rows, place);
      const Wide slot = Wide{number(positions, place)} + token;
      if (padded(rows, positions, place) || !inside(row, keys.size(0)) ||
          !inside(slot, keys.size(2))) {
        continue;
      }
      const auto to = static_cast<int64_t>(slot);
      keys[row].select(1, to).copy_(new_keys[place].select(1, token));
      values[row].select(1, to).copy_(new_values[place].select(1, token));
    }
  }
}

void count_refused_(const at::Tensor& refused, const at::Tensor& rows, const at::Tensor& positions,
                    int64_t q_len, int64_t slots) {
  for (int64_t place = 0; place < rows.size(0); ++place) {
    for (int64_t token = 0; token < q_len; ++token) {
      if (padded(rows, positions, place)) continue;
      if (!inside(Wide{number(positions, place)} + token, slots)) refused.add_(1);
    }
  }
}

void tag_(const at::Tensor& new_keys, const at::Tensor& new_values, const at::Tensor& rows,
          const at::Tensor& positions, const at::Tensor& generation, int64_t layer) {
  for (const bool value : {false, true}) {
    const at::Tensor& entries = value ? new_values : new_keys;
    for (int64_t place = 0; place < entries.size(0); ++place) {
      for (int64_t head = 0; head < entries.size(1); ++head) {
        for (int64_t token = 0; token < entries.size(2); ++token) {
          const auto digits =
              tag_digits(number(rows, place), Wide{number(positions, place)} + token,
                         number(generation, 0), layer, head, value);
          const at::Tensor entry = entries[place][head][token];
          for (int64_t i = 0; i < entry.size(0); ++i) {
            entry[i].fill_(digits[static_cast<size_t>(i % 12)]);
          }
        }
      }
    }
  }
}

void visible_sum_(const at::Tensor& out, const at::Tensor& keys, const at::Tensor& values,
                  const at::Tensor& block_table, const at::Tensor& rows,
                  const at::Tensor& positions, int64_t window, bool ring) {
  const bool paged = block_table.defined();
  const int64_t row_count = paged ? block_table.size(0) : keys.size(0);
  const int64_t capacity = paged ? block_table.size(1) * keys.size(2) : keys.size(2);
  const int64_t group = out.size(1) / keys.size(1);
  for (int64_t place = 0; place < rows.size(0); ++place) {
    if (padded(rows, positions, place)) continue;
    for (int64_t token = 0; token < out.size(2); ++token) {
      const at::Tensor sums = out[place].select(1, token).zero_();  // [heads, dim]
      const int64_t row = number(rows, place);
      const Wide first = std::min(number(positions, place), int64_t{1} << 62);
      const Wide position = first + token;
      if (!inside(row, row_count)) continue;
      for (int64_t slot = 0; slot < capacity; ++slot) {
        // After the step, a slot of a ring holds the last position that wraps around to it.
        const Wide last = first + out.size(2) - 1;
        const Wide held =
            ring ? last - ((last - slot) % capacity + capacity) % capacity : Wide{slot};
        const bool seen =
            held >= 0 && held <= position && (window == 0 || held > position - window);
        for (int64_t head = 0; seen && head < out.size(1); ++head) {
          const at::Tensor key = entry_at(keys, block_table, row, head / group, slot);
          if (!key.defined()) continue;
          const at::Tensor value = entry_at(values, block_table, row, head / group, slot);
          sums[head].add_(key.to(at::kFloat)).add_(value.to(at::kFloat), 2);
        }
      }
    }
  }
}

}  // namespace thaw::slow_twin
