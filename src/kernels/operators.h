// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// The registered operators of the `thaw` namespace: CPU kernels (which the simulated device runs)
/// and CUDA ones. Each enqueues work that depends on device memory only and never synchronises.
///
/// Wherever `rows` and `positions` [places] int64 appear, a place with -1 in either is padding.
/// Any other content is safe: what has no row or slot is skipped, not accessed.
///
/// Throws c10::Error if devices, dtypes, sizes or strides do not fit. The elements of an entry
/// must lie side by side; other dimensions may have any strides.
namespace thaw::ops {

/// Copies new entries to their slots. keys [rows, kv_heads, slots, key_dim] and values alike;
/// new_keys [places, kv_heads, q_len, key_dim]. Token i of place p goes to row rows[p], slot
/// positions[p] + i; slots outside [0, slots) are skipped. Any dtype: entries are moved as bytes.
void append_(const at::Tensor& keys, const at::Tensor& values, const at::Tensor& new_keys,
             const at::Tensor& new_values, const at::Tensor& rows, const at::Tensor& positions);

/// Adds to refused [] int64 how many of the q_len tokens of each place fall outside [0, slots).
/// A position below -1 is refused, and counts.
void count_refused_(const at::Tensor& refused, const at::Tensor& rows, const at::Tensor& positions,
                    int64_t q_len, int64_t slots);

/// Writes the tags (see decoder/tag.h) of one step's entries: new_keys and new_values
/// [places, kv_heads, q_len, dim], digits from rows, positions and generation [1] int64, all read
/// on the device. Every entry is written: of numbers out of range the low bits, so that a padded
/// place says row 15.
void tag_(const at::Tensor& new_keys, const at::Tensor& new_values, const at::Tensor& rows,
          const at::Tensor& positions, const at::Tensor& generation, int64_t layer);

/// out [places, heads, q_len, dim] fp32 = the sum over the visible entries of key + 2 * value.
/// Query head h reads kv head h / (heads / kv_heads). Visible to token i of place p are positions
/// 0 .. positions[p] + i, of those the last `window` if window > 0. keys and values as in
/// KeysValues: contiguous, or blocks with block_table (else undefined).
///
/// A position is its slot, and positions past the last slot have no entry. In a ring a position
/// lies in slot position mod slots, and an entry that a later token of the step overwrote is not
/// seen. Padded places keep their bytes. Exact: tags are small integers.
void visible_sum_(const at::Tensor& out, const at::Tensor& keys, const at::Tensor& values,
                  const at::Tensor& block_table, const at::Tensor& rows,
                  const at::Tensor& positions, int64_t window, bool ring);

}  // namespace thaw::ops
