// SPDX-License-Identifier: Apache-2.0
#include "caches/paged_cache.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace thaw {
namespace {

constexpr int64_t block_line = 0;
constexpr int64_t offset_line = 1;

CacheSpec in_blocks(CacheSpec spec, int64_t block_size) {
  spec.rows *= (spec.slots + block_size - 1) / block_size;
  spec.slots = block_size;
  return spec;
}

}  // namespace

PagedCache::PagedCache(CacheSpec spec, int64_t block_size)
    : spec_(std::move(spec)),
      block_size_(block_size),
      storage_(in_blocks(spec_, block_size)),
      positions_(spec_),
      refused_(spec_),
      table_(spec_.rows, blocks_for(spec_.slots), spec_.device),
      tokens_(2, spec_.rows * spec_.q_len_max, spec_.device),
      blocks_(static_cast<size_t>(spec_.rows)),
      free_(static_cast<size_t>(spec_.rows * blocks_for(spec_.slots))) {
  std::iota(free_.begin(), free_.end(), 0);
  table_.upload();
}

void PagedCache::prepare(const StepPlan& plan) {
  positions_.refill(plan);
  std::ranges::fill(tokens_.host(block_line), -1);
  std::ranges::fill(tokens_.host(offset_line), -1);
  for (size_t place = 0; place < plan.rows.size(); ++place) {
    if (plan.rows[place] < 0 || plan.positions[place] == -1) continue;
    Blocks& blocks = blocks_[static_cast<size_t>(plan.rows[place])];
    // What lies outside has no block; clamped, so that no sum overflows.
    const int64_t start = std::clamp(plan.positions[place], -plan.q_len, spec_.slots);
    const int64_t end = std::clamp(start + plan.q_len, int64_t{0}, spec_.slots);
    if (blocks_for(end) > std::ssize(blocks)) resize(blocks, end);
    for (int64_t position = std::max(start, int64_t{0}); position < end; ++position) {
      const auto token =
          place * static_cast<size_t>(plan.q_len) + static_cast<size_t>(position - start);
      tokens_.host(block_line)[token] = blocks[static_cast<size_t>(position / block_size_)];
      tokens_.host(offset_line)[token] = position % block_size_;
    }
  }
  tokens_.upload();
  upload_table();
}

void PagedCache::begin_step(int64_t places, int64_t q_len) {
  places_ = places;
  refused_.add(positions_.rows(places), positions_.positions(places), q_len);
}

// Each token is a place of its own, which writes one entry to its block.
KeysValues PagedCache::update(int64_t layer, const at::Tensor& keys, const at::Tensor& values) {
  const int64_t tokens = places_ * keys.size(2);
  const auto apart = [&](const at::Tensor& entries) {
    return entries.transpose(1, 2).reshape({tokens, entries.size(1), 1, entries.size(3)});
  };
  storage_.append(layer, apart(keys), apart(values), tokens_.device(block_line, tokens),
                  tokens_.device(offset_line, tokens));
  KeysValues view = storage_.view(layer);
  view.block_table = table_.device();
  return view;
}

void PagedCache::reset(std::span<const int64_t> rows) {
  positions_.reset(rows);
  for (const int64_t row : rows) resize(blocks_[static_cast<size_t>(row)], 0);
  upload_table();
}

void PagedCache::crop(int64_t row, int64_t length) {
  positions_.crop(row, length);
  resize(blocks_[static_cast<size_t>(row)], length);
  upload_table();
}

// The first row that asks for a row's blocks takes them over; others get copies, for which there is
// room once the blocks that nobody asked for are free.
void PagedCache::reorder(std::span<const int64_t> from, std::span<const int64_t> lengths) {
  positions_.reorder(from, lengths);
  std::vector<Blocks> old(blocks_.size());
  std::swap(old, blocks_);
  std::vector<size_t> heir(old.size(), old.size());
  for (size_t row = old.size(); row-- > 0;) heir[static_cast<size_t>(from[row])] = row;
  for (size_t row = 0; row < old.size(); ++row) {
    resize(old[row], heir[row] < old.size() ? lengths[row] : 0);
  }
  for (size_t row = 0; row < old.size(); ++row) {
    const auto source = static_cast<size_t>(from[row]);
    blocks_[row] = heir[source] == row ? old[source] : copy_of(old[source], lengths[source]);
  }
  upload_table();
}

void PagedCache::copy_row(int64_t from, int64_t to, int64_t length) {
  positions_.copy_row(from, to, length);
  if (from == to) return;
  resize(blocks_[static_cast<size_t>(to)], 0);
  blocks_[static_cast<size_t>(to)] = copy_of(blocks_[static_cast<size_t>(from)], length);
  upload_table();
}

/// Takes blocks from the free list or gives them back, so that `length` tokens have room.
void PagedCache::resize(Blocks& blocks, int64_t length) {
  while (std::ssize(blocks) > blocks_for(length)) {
    free_.push_back(blocks.back());
    blocks.pop_back();
  }
  while (std::ssize(blocks) < blocks_for(length)) {
    blocks.push_back(free_.back());
    free_.pop_back();
  }
}

PagedCache::Blocks PagedCache::copy_of(const Blocks& source, int64_t length) {
  Blocks blocks;
  resize(blocks, length);
  for (size_t i = 0; i < blocks.size(); ++i) storage_.copy_row(source[i], blocks[i]);
  return blocks;
}

void PagedCache::upload_table() {
  for (size_t row = 0; row < blocks_.size(); ++row) {
    const std::span line = table_.host(static_cast<int64_t>(row));
    std::ranges::fill(std::ranges::copy(blocks_[row], line.begin()).out, line.end(), -1);
  }
  table_.upload();
}

std::vector<Buffer> PagedCache::buffers() const {
  std::vector<Buffer> buffers = storage_.buffers();
  buffers.push_back(positions_.buffer());
  buffers.push_back(refused_.buffer());
  buffers.push_back({"block_table", Role::table, -1, table_.device()});
  buffers.push_back({"tokens", Role::position, -1, tokens_.device()});
  return buffers;
}

std::optional<Place> PagedCache::locate(int64_t layer, int64_t row, int64_t head, int64_t position,
                                        Role role) const {
  const Blocks& blocks = blocks_.at(static_cast<size_t>(row));
  if (position < 0 || position >= spec_.slots) return std::nullopt;
  if (position / block_size_ >= std::ssize(blocks)) return std::nullopt;
  return storage_.locate(layer, blocks[static_cast<size_t>(position / block_size_)], head,
                         position % block_size_, role);
}

std::vector<uint64_t> PagedCache::host_state() const { return {free_.begin(), free_.end()}; }

}  // namespace thaw
