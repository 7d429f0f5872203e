// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cache/kv_cache.h"
#include "decoder/tag.h"
#include "device/device.h"
#include "ledger/ledger.h"
#include "subject/subject.h"

namespace thaw {

/// The name of one entry of a cache.
struct EntryName {
  int64_t layer = 0, row = 0, head = 0, position = 0;
  Role role = Role::keys;
};
/// "layer 0, row 1, head 0, position 7, keys"
std::string to_string(const EntryName& entry);

/// What the bytes of all keys and values must be: tags where the ledger has an entry, the sentinel
/// of unowned slots everywhere else (R7, R10). Follows the ledger; asks the cache, and nobody else,
/// where an entry lies. Also keeps what the tag decoder's output must be.
///
/// Verifies nothing by itself; the slots, purity and outputs oracles compare with it.
class ExpectedImage {
 public:
  /// Throws std::invalid_argument if keys and values of a layer differ in dim or dtype: the tag
  /// decoder sums them.
  ExpectedImage(const KvCache& cache, const Ledger& ledger);

  /// The entries of `row` at positions [from, to) are in the ledger now.
  void commit(const Ledger& ledger, int64_t row, int64_t from, int64_t to);
  /// Rows changed otherwise: everything anew from the ledger.
  void rebuild(const Ledger& ledger);

  /// Fills all keys and values on the device with the sentinel.
  void mark_all_unowned(Device& device, std::span<const Buffer> buffers) const;
  /// Puts the sentinel into the slots of `row` at positions [from, to) on the device.
  void mark_unowned(Device& device, std::span<const Buffer> buffers, int64_t row, int64_t from,
                    int64_t to) const;
  /// Puts the sentinel into every slot that nobody owns (R10); entries stay as they are.
  void mark_all_but_entries(Device& device, std::span<const Buffer> buffers,
                            const Ledger& ledger) const;
  /// The entries of some rows as bytes of the cache's buffers, for `load` to write there; what lies
  /// side by side is one piece. Valid until the image changes.
  std::vector<BufferBytes> entries_of(std::span<const int64_t> rows,
                                      std::span<const Buffer> buffers, const Ledger& ledger) const;

  /// Whether the device's keys and values are bit for bit as expected.
  bool matches(const Device& device, std::span<const Buffer> buffers) const;

  /// An entry's place whose bytes are not as expected. `owned`: the ledger has an entry there.
  struct Mismatch {
    EntryName entry;
    bool owned = false;
    std::vector<float> expected, found;
  };
  /// All mismatches, owned ones first, at most `limit`; bytes of no entry's place are left out.
  std::vector<Mismatch> mismatches(const Device& device, std::span<const Buffer> buffers,
                                   const Ledger& ledger, size_t limit) const;
  /// Whether the entries of one token, over all layers and heads, are as expected.
  bool token_matches(const Device& device, std::span<const Buffer> buffers, int64_t row,
                     int64_t position) const;

  /// [dim] fp32: the sum over the positions [from, to) of a row of key + 2 * value. Valid until the
  /// next call.
  std::span<const float> sum_over(const Ledger& ledger, int64_t layer, int64_t row, int64_t head,
                                  int64_t from, int64_t to) const;

 private:
  struct Contents {
    int64_t layer;
    Role role;
    at::ScalarType dtype;
    size_t element_size;
    std::vector<std::byte> bytes;
  };
  using Encoded = std::array<std::array<std::byte, 4>, 16>;  ///< bytes of the numbers 0..15

  /// Visits the entries at positions [from, to) that are still there, and what lies in the place of
  /// such an entry once the row is longer.
  template <class Visit>
  void for_each_entry(int64_t row, int64_t from, int64_t to, Visit visit) const;
  void write_entry(const EntryName& entry, const Place& place, const Provenance& provenance);
  void add_to_sum(const EntryName& entry, int64_t dim, const Tag::Digits& digits);
  Contents& contents(size_t buffer) { return contents_[slot_of_buffer_[buffer]]; }
  const Contents& contents(size_t buffer) const { return contents_[slot_of_buffer_[buffer]]; }
  size_t sum_index(int64_t layer, int64_t row, int64_t head, int64_t position) const;
  bool keeps_sums() const { return !sums_.empty(); }
  std::vector<float> decode(const Contents& of, const std::byte* entry, const Place& place) const;

  const KvCache& cache_;
  const Ledger& ledger_;  ///< asked for places alone
  int64_t rows_, slots_;
  std::vector<Contents> contents_;
  std::vector<size_t> slot_of_buffer_;  ///< index into contents_ by index into buffers()
  std::vector<size_t> buffer_of_;       ///< the inverse
  std::vector<Encoded> encoded_;        ///< per entry of contents_
  std::vector<std::vector<std::byte>> sentinel_;
  std::vector<size_t> layer_sums_;  ///< where a layer's sums begin
  /// [layers][rows, kv_heads, slots, dim]: from the first position on through each one. Empty where
  /// rows lose entries; sums are then made when they are asked for.
  std::vector<float> sums_;
  mutable std::vector<float> sum_;
};

}  // namespace thaw
