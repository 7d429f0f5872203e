// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kv_cache.h"
#include "cache/kv_storage.h"
#include "cache/refused_count.h"
#include "cache/staged_integers.h"
#include "cache/step_positions.h"

namespace thaw {

/// A cache in blocks. Each row has a line in the block table; prepare gives a row the blocks that
/// the next step needs, crop and reset give them back. Blocks, offsets and table lie in device
/// buffers that never move, so a graph follows them.
class PagedCache : public KvCache {
 public:
  PagedCache(CacheSpec spec, int64_t block_size);

  const CacheSpec& spec() const override { return spec_; }
  void prepare(const StepPlan& plan) override;
  void begin_step(int64_t places, int64_t q_len) override;
  KeysValues update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) override;
  at::Tensor write_positions() const override { return positions_.write_positions(); }
  void reset(std::span<const int64_t> rows) override;
  void crop(int64_t row, int64_t length) override;
  void reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) override;
  void copy_row(int64_t from, int64_t to, int64_t length) override;
  std::vector<Buffer> buffers() const override;
  std::optional<Place> locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                              Role role) const override;
  /// The free list; the table is a buffer.
  std::vector<uint64_t> host_state() const override;

 private:
  using Blocks = std::vector<int64_t>;

  int64_t blocks_for(int64_t tokens) const { return (tokens + block_size_ - 1) / block_size_; }
  void resize(Blocks& blocks, int64_t length);
  Blocks copy_of(const Blocks& source, int64_t length);
  void upload_table();

  CacheSpec spec_;
  int64_t block_size_;
  KvStorage storage_;  ///< its rows are the blocks
  StepPositions positions_;
  RefusedCount refused_;
  StagedIntegers table_;   ///< [rows, blocks of a row]; a place without a block holds -1
  StagedIntegers tokens_;  ///< per token of a step its block and its offset, -1 if it has none
  std::vector<Blocks> blocks_;
  Blocks free_;
  int64_t places_ = 1;  ///< of the step under way
};

}  // namespace thaw
