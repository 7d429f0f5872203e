// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "device/device.h"
#include "ledger/ledger.h"
#include "reference/reference.h"
#include "subject/subject.h"

namespace thaw {

/// What the bytes of all keys and values must be: what the reference says where the ledger has an
/// entry, the sentinel of unowned slots everywhere else (R7, R10). Follows the ledger; asks the
/// cache, and nobody else, where an entry lies.
///
/// Verifies nothing by itself; the slots and purity oracles compare with it.
class ExpectedImage {
 public:
  /// `reference` follows the ledger first, and outlives this.
  ExpectedImage(const KvCache& cache, const Ledger& ledger, Reference& reference);

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

 private:
  struct Contents {
    int64_t layer;
    Role role;
    at::ScalarType dtype;
    size_t element_size;
    std::vector<std::byte> bytes;
  };

  /// Visits the entries at positions [from, to) that are still there, and what lies in the place of
  /// such an entry once the row is longer.
  template <class Visit>
  void for_each_entry(int64_t row, int64_t from, int64_t to, Visit visit) const;
  Contents& contents(size_t buffer) { return contents_[slot_of_buffer_[buffer]]; }
  const Contents& contents(size_t buffer) const { return contents_[slot_of_buffer_[buffer]]; }
  std::vector<float> decode(const Contents& of, const std::byte* entry, const Place& place) const;

  const KvCache& cache_;
  const Ledger& ledger_;  ///< asked for places alone
  Reference& reference_;
  int64_t rows_, slots_;
  std::vector<Contents> contents_;
  std::vector<size_t> slot_of_buffer_;  ///< index into contents_ by index into buffers()
  std::vector<size_t> buffer_of_;       ///< the inverse
  std::vector<std::vector<std::byte>> sentinel_;
};

}  // namespace thaw
