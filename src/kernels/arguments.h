// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// What the kernels of operators.h work on: raw memory, sizes and strides, nothing of LibTorch, so
/// that CPU and CUDA kernels share them. Whoever makes them has checked that the sizes agree;
/// contents of device memory (rows, positions, block numbers) are checked by the kernels.
namespace thaw::kernels {

enum class Element : uint8_t { fp32, fp16, bf16, fp8_e4m3 };

/// Entries [outer, heads, slots], each of `dim` elements that lie side by side. Strides in bytes.
/// Byte is std::byte or const std::byte.
template <class Byte>
struct EntriesOf {
  Byte* data;
  int64_t outer, heads, slots, dim;
  int64_t outer_stride, head_stride, slot_stride;
  int64_t entry_bytes;
};
using Entries = EntriesOf<std::byte>;
using ConstEntries = EntriesOf<const std::byte>;

/// The places of a step: rows [count] and positions [count] in device memory.
struct Places {
  const int64_t* rows;
  const int64_t* positions;
  int64_t count;
};

/// New entries are [places, kv_heads, q_len]; keys and values have the same outer, heads, slots.
struct AppendArguments {
  Entries keys, values;
  ConstEntries new_keys, new_values;
  Places places;
};

struct CountRefusedArguments {
  int64_t* refused;
  Places places;
  int64_t q_len, slots;
};

struct TagArguments {
  Entries new_keys, new_values;
  Element key_element, value_element;
  Places places;
  const int64_t* generation;
  int64_t layer;
};

/// Entries lie in blocks of keys.slots slots. Without a block table (null) a row is one block.
struct VisibleSumArguments {
  float* out;  ///< contiguous [places, heads, q_len, keys.dim]
  int64_t heads, q_len;
  ConstEntries keys, values;
  Element key_element, value_element;
  const int64_t* block_table;  ///< contiguous [rows, blocks_of_a_row], or null
  int64_t rows, blocks_of_a_row;
  Places places;
  int64_t window;  ///< 0: none
  bool ring;
};

}  // namespace thaw::kernels
