// SPDX-License-Identifier: Apache-2.0
//
// The kernels of operators.h on a CPU, which are also those that the simulated device replays.

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Half.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>

#include "kernels/arithmetic.h"
#include "kernels/checked_arguments.h"

namespace thaw::kernels {
namespace {

template <class Byte>
Byte* entry(const EntriesOf<Byte>& entries, int64_t outer, int64_t head, int64_t slot) {
  return entries.data + outer * entries.outer_stride + head * entries.head_stride +
         slot * entries.slot_stride;
}

/// Calls `use` with a value of the C++ type of `element`.
template <class Use>
auto with_type(Element element, Use use) {
  switch (element) {
    case Element::fp16:
      return use(c10::Half());
    case Element::bf16:
      return use(c10::BFloat16());
    case Element::fp8_e4m3:
      return use(c10::Float8_e4m3fn());
    case Element::fp32:
      break;
  }
  return use(float());
}

// ------------------------------------------------------------------------------------ append_

void append_place(const Entries& cache, const ConstEntries& added, int64_t place, int64_t row,
                  int64_t position, Range tokens) {
  const auto bytes = static_cast<size_t>(cache.entry_bytes);
  for (int64_t head = 0; head < cache.heads; ++head) {
    for (int64_t token = tokens.begin; token < tokens.end; ++token) {
      std::memcpy(entry(cache, row, head, position + token), entry(added, place, head, token),
                  bytes);
    }
  }
}

void append(const AppendArguments& a) {
  for (int64_t place = 0; place < a.places.count; ++place) {
    const int64_t row = a.places.rows[place];
    const int64_t position = a.places.positions[place];
    if (position == -1 || row < 0 || row >= a.keys.outer) continue;
    const Range tokens = tokens_inside(position, a.new_keys.slots, a.keys.slots);
    append_place(a.keys, a.new_keys, place, row, position, tokens);
    append_place(a.values, a.new_values, place, row, position, tokens);
  }
}

// ----------------------------------------------------------------------------- count_refused_

void count_refused(const CountRefusedArguments& a) {
  for (int64_t place = 0; place < a.places.count; ++place) {
    const int64_t position = a.places.positions[place];
    if (is_padding(a.places.rows[place], position)) continue;
    *a.refused += a.q_len - tokens_inside(position, a.q_len, a.slots).size();
  }
}

// --------------------------------------------------------------------------------------- tag_

template <class T>
void write_tag(PackedTag tag, std::byte* to, int64_t dim) {
  static const std::array<T, 16> digit_values = [] {
    std::array<T, 16> values;
    for (size_t digit = 0; digit < values.size(); ++digit) {
      values[digit] = static_cast<T>(static_cast<float>(digit));
    }
    return values;
  }();
  T* elements = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < tag_digits; ++i) elements[i] = digit_values[tag.digit(i)];
  for (int64_t i = tag_digits; i < dim; ++i) elements[i] = elements[i - tag_digits];
}

void tag_entries(const TagArguments& a, const Entries& entries, Element element, bool value) {
  const auto write = with_type(element, [](auto type) { return &write_tag<decltype(type)>; });
  const PackedTag common = PackedTag().generation(*a.generation).layer(a.layer).value(value);
  for (int64_t place = 0; place < entries.outer; ++place) {
    const PackedTag of_row = common.row(a.places.rows[place]);
    for (int64_t token = 0; token < entries.slots; ++token) {
      const PackedTag of_token = of_row.position(position_of(a.places.positions[place], token));
      for (int64_t head = 0; head < entries.heads; ++head) {
        write(of_token.head(head).checked(), entry(entries, place, head, token), entries.dim);
      }
    }
  }
}

void tag(const TagArguments& a) {
  tag_entries(a, a.new_keys, a.key_element, false);
  tag_entries(a, a.new_values, a.value_element, true);
}

// ------------------------------------------------------------------------------- visible_sum_

/// As many elements of an entry as are summed at a time, in registers.
constexpr int64_t lanes = 16;
using Sum = std::array<float, lanes>;

/// Adds factor times `width` elements of each of `count` entries that are `stride` bytes apart.
template <class T>
void add_entries(Sum& sum, const std::byte* first, int64_t stride, int64_t count, int64_t width,
                 float factor) {
  const auto add = [&](auto elements) {
    Sum total = sum;
    for (int64_t i = 0; i < count; ++i) {
      const T* from = reinterpret_cast<const T*>(first + i * stride);
      for (int64_t lane = 0; lane < elements; ++lane) {
        total[static_cast<size_t>(lane)] += factor * static_cast<float>(from[lane]);
      }
    }
    sum = total;
  };
  // A constant number of lanes is what lets the compiler keep them in registers.
  if (width == lanes) {
    add(std::integral_constant<int64_t, lanes>());
  } else {
    add(width);
  }
}

/// Sums over the positions of one row and kv head, `width` elements from element `first` on.
class VisibleSum {
 public:
  VisibleSum(const VisibleSumArguments& arguments, int64_t row, int64_t head, int64_t first,
             int64_t width)
      : a_(arguments), row_(row), head_(head), first_(first), width_(width) {}

  /// The sum over `range`; continues the last one where both begin alike.
  const Sum& over(Range range) {
    if (range.begin != done_.begin || range.end < done_.end) {
      sum_.fill(0);
      done_ = {range.begin, range.begin};
    }
    while (done_.end < range.end) done_.end += add_run(done_.end, range.end);
    return sum_;
  }

 private:
  /// Adds the entries from `position` on that lie in one block; returns how many those are.
  int64_t add_run(int64_t position, int64_t end) {
    const int64_t slot = position % (a_.blocks_of_a_row * a_.keys.slots);
    const int64_t in_block = slot % a_.keys.slots;
    const int64_t count = std::min(end - position, a_.keys.slots - in_block);
    const int64_t block = a_.block_table == nullptr
                              ? row_
                              : a_.block_table[row_ * a_.blocks_of_a_row + slot / a_.keys.slots];
    if (block >= 0 && block < a_.keys.outer) {
      add(a_.keys, a_.key_element, block, in_block, count, 1);
      add(a_.values, a_.value_element, block, in_block, count, 2);
    }
    return count;
  }

  void add(const ConstEntries& entries, Element element, int64_t block, int64_t slot, int64_t count,
           float factor) {
    with_type(element, [&](auto type) {
      using T = decltype(type);
      const auto* first =
          entry(entries, block, head_, slot) + first_ * static_cast<int64_t>(sizeof(T));
      add_entries<T>(sum_, first, entries.slot_stride, count, width_, factor);
    });
  }

  const VisibleSumArguments& a_;
  int64_t row_, head_, first_, width_;
  Range done_;
  Sum sum_{};
};

void visible_sum_of_place(const VisibleSumArguments& a, int64_t place, int64_t row,
                          int64_t position) {
  const bool row_exists = row >= 0 && row < a.rows;
  const int64_t capacity = a.blocks_of_a_row * a.keys.slots;
  const Sight sight{a.q_len, a.window, a.ring, capacity};
  const int64_t group = a.heads / a.keys.heads;
  for (int64_t head = 0; head < a.heads; head += group) {
    for (int64_t first = 0; first < a.keys.dim; first += lanes) {
      const int64_t width = std::min(lanes, a.keys.dim - first);
      VisibleSum visible(a, row, head / group, first, width);
      for (int64_t token = 0; token < a.q_len; ++token) {
        const Range range = row_exists ? visible_positions(position, token, sight) : Range{};
        const Sum& sum = visible.over(range);
        for (int64_t member = head; member < head + group; ++member) {
          float* out = a.out + ((place * a.heads + member) * a.q_len + token) * a.keys.dim + first;
          std::copy_n(sum.data(), width, out);
        }
      }
    }
  }
}

void visible_sum(const VisibleSumArguments& a) {
  for (int64_t place = 0; place < a.places.count; ++place) {
    const int64_t row = a.places.rows[place];
    const int64_t position = a.places.positions[place];
    if (!is_padding(row, position)) visible_sum_of_place(a, place, row, position);
  }
}

}  // namespace
}  // namespace thaw::kernels

TORCH_LIBRARY_IMPL(thaw, CPU, library) {
  using at::Tensor;
  using namespace thaw::kernels;
  library.impl("append_",
               [](const Tensor& keys, const Tensor& values, const Tensor& new_keys,
                  const Tensor& new_values, const Tensor& rows, const Tensor& positions) {
                 append(append_arguments(keys, values, new_keys, new_values, rows, positions));
               });
  library.impl("count_refused_", [](const Tensor& refused, const Tensor& rows,
                                    const Tensor& positions, int64_t q_len, int64_t slots) {
    count_refused(count_refused_arguments(refused, rows, positions, q_len, slots));
  });
  library.impl("tag_", [](const Tensor& new_keys, const Tensor& new_values, const Tensor& rows,
                          const Tensor& positions, const Tensor& generation, int64_t layer) {
    tag(tag_arguments(new_keys, new_values, rows, positions, generation, layer));
  });
  library.impl("visible_sum_", [](const Tensor& out, const Tensor& keys, const Tensor& values,
                                  const std::optional<Tensor>& block_table, const Tensor& rows,
                                  const Tensor& positions, int64_t window, bool ring) {
    visible_sum(
        visible_sum_arguments(out, keys, values, block_table, rows, positions, window, ring));
  });
}
