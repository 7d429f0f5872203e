// SPDX-License-Identifier: Apache-2.0
#include "kernels/torch_operators.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/where.h>

#include <algorithm>

namespace thaw::torch_ops {
namespace {

using at::Tensor;

Tensor count_up(int64_t count, const Tensor& like) { return at::arange(count, like.options()); }

/// [places, 1]: which places take no part.
Tensor padding(const Tensor& rows, const Tensor& positions) {
  return rows.eq(-1).logical_or(positions.eq(-1)).unsqueeze(1);
}

/// [places, q_len]: the position of each token. What lies before the first slot or past `largest`
/// moves next to it, so that no sum overflows.
Tensor token_positions(const Tensor& positions, int64_t q_len, int64_t largest) {
  return positions.clamp(-q_len, largest).unsqueeze(1).add(count_up(q_len, positions));
}

Tensor inside(const Tensor& numbers, int64_t size) {
  return numbers.ge(0).logical_and(numbers.lt(size));
}

void put_entries(const Tensor& flat, const Tensor& index, const Tensor& added) {
  const Tensor entries = added.reshape({-1, added.size(3)});
  // LibTorch copies no fp8 entries by index, but their bytes.
  if (flat.element_size() == 1) {
    flat.view(at::kByte).index_copy_(0, index, entries.view(at::kByte));
  } else {
    flat.index_copy_(0, index, entries);
  }
}

}  // namespace

void append_(const Tensor& flat_keys, const Tensor& flat_values, const Tensor& new_keys,
             const Tensor& new_values, const Tensor& rows, const Tensor& positions, int64_t slots) {
  const int64_t kv_heads = new_keys.size(1);
  const int64_t scratch = flat_keys.size(0) - 1;
  const Tensor position = token_positions(positions, new_keys.size(2), slots);
  const int64_t row_count = scratch / (kv_heads * slots);
  const Tensor kept = inside(position, slots)
                          .logical_and(padding(rows, positions).logical_not())
                          .logical_and(inside(rows, row_count).unsqueeze(1));
  const Tensor row = rows.clamp(0, row_count - 1).view({-1, 1, 1});
  const Tensor head = row.mul(kv_heads).add(count_up(kv_heads, rows).view({1, -1, 1}));
  const Tensor entry = head.mul(slots).add(position.unsqueeze(1));
  const Tensor index = at::where(kept.unsqueeze(1), entry, scratch).view({-1});
  put_entries(flat_keys, index, new_keys);
  put_entries(flat_values, index, new_values);
}

void count_refused_(const Tensor& refused, const Tensor& rows, const Tensor& positions,
                    int64_t q_len, int64_t slots) {
  const Tensor kept = inside(token_positions(positions, q_len, slots), slots);
  const Tensor outside = kept.logical_or(padding(rows, positions)).logical_not();
  refused.add_(outside.sum().view_as(refused));
}

namespace {

/// [2, places, kv_heads, q_len]: the digits of keys and of values but for the check, as hexadecimal
/// digits of one number each, the first digit lowest.
Tensor packed_tags(const Tensor& rows, const Tensor& positions, const Tensor& generation,
                   int64_t layer, int64_t kv_heads, int64_t q_len) {
  const auto field = [&](int64_t count, int shift) {
    return at::arange(0, count << shift, int64_t{1} << shift, rows.options());
  };
  // Only the low bits count, so they are taken before the sum, which then cannot overflow.
  const Tensor position = positions.bitwise_and(0xFFF)
                              .unsqueeze(1)
                              .add(count_up(q_len, positions))
                              .bitwise_and(0xFFF)
                              .mul(1 << 4);
  return rows.bitwise_and(0xF)
      .unsqueeze(1)
      .add(position)
      .add(generation.bitwise_and(0xFFFF).mul(1 << 16))
      .add((layer & 0xF) << 32)
      .unsqueeze(1)
      .add(field(kv_heads, 36).view({-1, 1}))
      .add(field(2, 40).view({-1, 1, 1, 1}));
}

}  // namespace

void tag_(const Tensor& new_keys, const Tensor& new_values, const Tensor& rows,
          const Tensor& positions, const Tensor& generation, int64_t layer) {
  const auto options = rows.options();
  const Tensor packed =
      packed_tags(rows, positions, generation, layer, new_keys.size(1), new_keys.size(2));
  const Tensor digits =
      packed.unsqueeze(-1).bitwise_right_shift(at::arange(0, 44, 4, options)).bitwise_and(0xF);
  const Tensor weights = at::arange(1, 23, 2, options);
  const Tensor check = digits.mul(weights).sum(-1, true).add(1).bitwise_and(0xF);
  const Tensor tags = at::cat({digits, check}, -1);
  const int64_t dim = std::max(new_keys.size(3), new_values.size(3));
  const Tensor entries = tags.index_select(-1, count_up(dim, rows).remainder(tags.size(-1)));
  new_keys.copy_(entries[0].narrow(-1, 0, new_keys.size(3)));
  new_values.copy_(entries[1].narrow(-1, 0, new_values.size(3)));
}

namespace {

/// What the places can see of a cache, in the order of slots.
struct Visible {
  Tensor sums;  ///< [places, kv_heads, capacity, dim] fp32: key + 2 * value, 0 where no entry is
  Tensor rows_exist;  ///< [places, 1]
};

Tensor key_and_values(const Tensor& keys, const Tensor& values, const Tensor& index) {
  const Tensor of_values = values.index_select(0, index).to(at::kFloat);
  return keys.index_select(0, index).to(at::kFloat).add(of_values, 2);
}

Visible gather(const Tensor& keys, const Tensor& values, const Tensor& block_table,
               const Tensor& rows) {
  const bool paged = block_table.defined();
  const int64_t row_count = paged ? block_table.size(0) : keys.size(0);
  const Tensor row = rows.clamp(0, row_count - 1);
  const Tensor exist = inside(rows, row_count).unsqueeze(1);
  if (!paged) return {key_and_values(keys, values, row), exist};

  const int64_t places = rows.size(0), heads = keys.size(1), block_size = keys.size(2);
  const Tensor blocks = block_table.index_select(0, row);  // [places, blocks_of_a_row]
  const Tensor index = blocks.clamp(0, keys.size(0) - 1).view({-1});
  const Tensor missing = inside(blocks, keys.size(0)).logical_not();
  const Tensor sums = key_and_values(keys, values, index)
                          .view({places, -1, heads, block_size, keys.size(3)})
                          .masked_fill(missing.view({places, -1, 1, 1, 1}), 0)
                          .transpose(1, 2)
                          .reshape({places, heads, -1, keys.size(3)});
  return {sums, exist};
}

/// Without a window token t sees the slots 0 .. t, so one running sum serves all tokens.
Tensor sum_up_to(const Visible& visible, const Tensor& positions, int64_t q_len) {
  const Tensor& sums = visible.sums;
  const int64_t capacity = sums.size(2);
  const Tensor position = token_positions(positions, q_len, capacity);
  const Tensor last = position.clamp(0, capacity - 1)
                          .view({-1, 1, q_len, 1})
                          .expand({-1, sums.size(1), q_len, sums.size(3)});
  const Tensor nothing = position.lt(0).logical_or(visible.rows_exist.logical_not());
  return sums.cumsum(2).gather(2, last).masked_fill(nothing.unsqueeze(1).unsqueeze(-1), 0);
}

/// The other cases, slot by slot: which position each holds, and whether it is seen.
Tensor sum_of_window(const Visible& visible, const Tensor& positions, int64_t q_len, int64_t window,
                     bool ring) {
  constexpr int64_t largest = int64_t{1} << 62;
  const Tensor& sums = visible.sums;
  const int64_t capacity = sums.size(2);
  const Tensor position = token_positions(positions, q_len, largest).unsqueeze(-1);
  const Tensor slots = count_up(capacity, positions);
  Tensor held = slots.expand({positions.size(0), q_len, capacity});
  Tensor seen = visible.rows_exist.unsqueeze(-1);
  if (ring) {
    held = position.sub(position.sub(slots).remainder(capacity));
    const Tensor oldest = positions.clamp_max(largest).view({-1, 1, 1}).add(q_len - capacity);
    seen = seen.logical_and(held.ge(0)).logical_and(held.ge(oldest));
  }
  seen = seen.logical_and(held.le(position));
  if (window > 0) seen = seen.logical_and(held.gt(position.sub(window)));
  return sums.unsqueeze(2)
      .masked_fill(seen.logical_not().unsqueeze(1).unsqueeze(-1), 0)
      .sum(3);  // [places, kv_heads, q_len, capacity, dim] before it
}

}  // namespace

void visible_sum_(const Tensor& out, const Tensor& keys, const Tensor& values,
                  const Tensor& block_table, const Tensor& rows, const Tensor& positions,
                  int64_t window, bool ring) {
  const int64_t heads = out.size(1), q_len = out.size(2);
  const Visible visible = gather(keys, values, block_table, rows);
  const Tensor sum = window == 0 && !ring ? sum_up_to(visible, positions, q_len)
                                          : sum_of_window(visible, positions, q_len, window, ring);
  const Tensor of_heads =
      sum.unsqueeze(2).expand({-1, -1, heads / sum.size(1), -1, -1}).reshape(out.sizes());
  const Tensor padded = padding(rows, positions).view({-1, 1, 1, 1});
  out.copy_(at::where(padded, out, of_heads));
}

}  // namespace thaw::torch_ops
