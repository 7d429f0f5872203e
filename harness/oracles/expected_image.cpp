// SPDX-License-Identifier: Apache-2.0
#include "oracles/expected_image.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "decoder/tag.h"
#include "reference/elements.h"

namespace thaw {
namespace {

bool is_key_or_value(const Buffer& buffer) {
  return buffer.role == Role::keys || buffer.role == Role::values;
}

}  // namespace

ExpectedImage::ExpectedImage(const KvCache& cache, const Ledger& ledger, Reference& reference)
    : cache_(cache),
      ledger_(ledger),
      reference_(reference),
      rows_(ledger.rows()),
      slots_(ledger.slots()) {
  const std::vector<Buffer> buffers = cache.buffers();
  slot_of_buffer_.assign(buffers.size(), 0);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!is_key_or_value(buffers[i])) continue;
    const at::Tensor& tensor = buffers[i].tensor;
    slot_of_buffer_[i] = contents_.size();
    buffer_of_.push_back(i);
    Contents contents{buffers[i].layer, buffers[i].role, tensor.scalar_type(),
                      static_cast<size_t>(tensor.element_size()),
                      std::vector<std::byte>(tensor.nbytes())};
    const auto unowned = encode_element(contents.dtype, unowned_slot);
    for (size_t at = 0; at < contents.bytes.size(); at += contents.element_size) {
      std::memcpy(contents.bytes.data() + at, unowned.data(), contents.element_size);
    }
    sentinel_.push_back(contents.bytes);
    contents_.push_back(std::move(contents));
  }
}

template <class Visit>
void ExpectedImage::for_each_entry(int64_t row, int64_t from, int64_t to, Visit visit) const {
  from = std::max(from, ledger_.first_kept(row));
  const auto& layers = cache_.spec().layers;
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    for (int64_t head = 0; head < layers[layer].kv_heads; ++head) {
      for (int64_t position = from; position < to; ++position) {
        const int64_t asked = ledger_.position_for_locate(row, position);
        for (const Role role : {Role::keys, Role::values}) {
          const EntryName entry{static_cast<int64_t>(layer), row, head, position, role};
          if (const auto place = cache_.locate(entry.layer, row, head, asked, role)) {
            visit(entry, *place);
          }
        }
      }
    }
  }
}

void ExpectedImage::commit(const Ledger& ledger, int64_t row, int64_t from, int64_t to) {
  // In a full row that shifts, all entries have another place than before.
  if (ledger.layout() == Layout::shift && ledger.first_kept(row) > 0) from = 0;
  for_each_entry(row, from, to, [&](const EntryName& entry, const Place& place) {
    Contents& to = contents(place.buffer);
    reference_.put_entry(entry, ledger.provenance(row, entry.position), to.dtype, place,
                         to.bytes.data() + place.offset);
  });
}

void ExpectedImage::rebuild(const Ledger& ledger) {
  for (size_t i = 0; i < contents_.size(); ++i) contents_[i].bytes = sentinel_[i];
  for (int64_t row = 0; row < rows_; ++row) commit(ledger, row, 0, ledger.length(row));
}

void ExpectedImage::mark_all_unowned(Device& device, std::span<const Buffer> buffers) const {
  for (size_t i = 0; i < contents_.size(); ++i) {
    device.write(buffers[buffer_of_[i]].tensor, 0, sentinel_[i]);
  }
}

void ExpectedImage::mark_unowned(Device& device, std::span<const Buffer> buffers, int64_t row,
                                 int64_t from, int64_t to) const {
  for_each_entry(row, from, std::min(to, slots_), [&](const EntryName&, const Place& place) {
    const size_t element_size = contents(place.buffer).element_size;
    const std::span<const std::byte> sentinel = sentinel_[slot_of_buffer_[place.buffer]];
    const at::Tensor& tensor = buffers[place.buffer].tensor;
    const auto offset = static_cast<size_t>(place.offset);
    if (place.stride == static_cast<int64_t>(element_size)) {
      device.write(tensor, offset, sentinel.first(static_cast<size_t>(place.dim) * element_size));
      return;
    }
    for (int64_t i = 0; i < place.dim; ++i) {
      device.write(tensor, offset + static_cast<size_t>(i * place.stride),
                   sentinel.first(element_size));
    }
  });
}

void ExpectedImage::mark_all_but_entries(Device& device, std::span<const Buffer> buffers,
                                         const Ledger& ledger) const {
  std::vector<std::vector<char>> owned;
  for (const Contents& c : contents_) owned.emplace_back(c.bytes.size() / c.element_size, 0);
  for (int64_t row = 0; row < rows_; ++row) {
    for_each_entry(row, 0, ledger.length(row), [&](const EntryName&, const Place& place) {
      const size_t element_size = contents(place.buffer).element_size;
      std::vector<char>& marks = owned[slot_of_buffer_[place.buffer]];
      for (int64_t i = 0; i < place.dim; ++i) {
        marks[static_cast<size_t>(place.offset + i * place.stride) / element_size] = 1;
      }
    });
  }
  for (size_t i = 0; i < contents_.size(); ++i) {
    const auto& marks = owned[i];
    const size_t element_size = contents_[i].element_size;
    for (auto begin = std::find(marks.begin(), marks.end(), 0); begin != marks.end();) {
      const auto end = std::find(begin, marks.end(), 1);
      const auto offset = static_cast<size_t>(begin - marks.begin()) * element_size;
      const auto bytes = static_cast<size_t>(end - begin) * element_size;
      device.write(buffers[buffer_of_[i]].tensor, offset,
                   std::span(sentinel_[i]).subspan(offset, bytes));
      begin = std::find(end, marks.end(), 0);
    }
  }
}

std::vector<BufferBytes> ExpectedImage::entries_of(std::span<const int64_t> rows,
                                                   std::span<const Buffer> buffers,
                                                   const Ledger& ledger) const {
  struct Piece {
    size_t buffer, begin, end;
  };
  std::vector<Piece> pieces;
  for (const int64_t row : rows) {
    for_each_entry(row, 0, ledger.length(row), [&](const EntryName&, const Place& place) {
      const size_t element_size = contents(place.buffer).element_size;
      const bool together = place.stride == static_cast<int64_t>(element_size);
      const int64_t elements = together ? place.dim : 1;
      for (int64_t i = 0; i < place.dim; i += elements) {
        const auto begin = static_cast<size_t>(place.offset + i * place.stride);
        pieces.push_back(
            {place.buffer, begin, begin + static_cast<size_t>(elements) * element_size});
      }
    });
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.buffer, a.begin) < std::tie(b.buffer, b.begin);
  });
  std::vector<BufferBytes> entries;
  for (size_t first = 0, next = 0; first < pieces.size(); first = next) {
    const auto [buffer, begin, unused] = pieces[first];
    size_t end = begin;
    for (; next < pieces.size() && pieces[next].buffer == buffer && pieces[next].begin == end;
         ++next) {
      end = pieces[next].end;
    }
    entries.push_back({buffers[buffer].tensor, static_cast<int64_t>(begin),
                       std::span(contents(buffer).bytes).subspan(begin, end - begin)});
  }
  return entries;
}

bool ExpectedImage::matches(const Device& device, std::span<const Buffer> buffers) const {
  std::vector<std::byte> scratch;
  for (size_t i = 0; i < contents_.size(); ++i) {
    const auto found = device.read(buffers[buffer_of_[i]].tensor, scratch);
    if (found.size() != contents_[i].bytes.size() ||
        std::memcmp(found.data(), contents_[i].bytes.data(), found.size()) != 0) {
      return false;
    }
  }
  return true;
}

std::vector<float> ExpectedImage::decode(const Contents& of, const std::byte* entry,
                                         const Place& place) const {
  std::vector<float> numbers(static_cast<size_t>(place.dim));
  for (float& number : numbers) {
    number = decode_element(of.dtype, entry);
    entry += place.stride;
  }
  return numbers;
}

std::vector<ExpectedImage::Mismatch> ExpectedImage::mismatches(const Device& device,
                                                               std::span<const Buffer> buffers,
                                                               const Ledger& ledger,
                                                               size_t limit) const {
  std::vector<Mismatch> found;
  std::vector<std::byte> scratch;
  const auto look = [&](const EntryName& entry, const Place& place) {
    if (found.size() >= limit) return;
    const Contents& of = contents(place.buffer);
    const auto bytes = device.read(buffers[place.buffer].tensor, scratch);
    const auto end =
        static_cast<size_t>(place.offset + (place.dim - 1) * place.stride) + of.element_size;
    if (bytes.size() < end) return;
    const std::vector<float> expected = decode(of, of.bytes.data() + place.offset, place);
    std::vector<float> there = decode(of, bytes.data() + place.offset, place);
    if (std::memcmp(expected.data(), there.data(), expected.size() * sizeof(float)) == 0) return;
    found.push_back({entry, entry.position < ledger.length(entry.row), expected, std::move(there)});
  };
  for (int64_t row = 0; row < rows_; ++row) for_each_entry(row, 0, ledger.length(row), look);
  for (int64_t row = 0; row < rows_; ++row) for_each_entry(row, ledger.length(row), slots_, look);
  return found;
}

bool ExpectedImage::token_matches(const Device& device, std::span<const Buffer> buffers,
                                  int64_t row, int64_t position) const {
  bool same = true;
  std::vector<std::byte> scratch;
  for_each_entry(row, position, position + 1, [&](const EntryName&, const Place& place) {
    const Contents& of = contents(place.buffer);
    const auto bytes = device.read(buffers[place.buffer].tensor, scratch);
    for (int64_t i = 0; same && i < place.dim; ++i) {
      const auto offset = static_cast<size_t>(place.offset + i * place.stride);
      same = offset + of.element_size <= bytes.size() &&
             std::memcmp(bytes.data() + offset, of.bytes.data() + offset, of.element_size) == 0;
    }
  });
  return same;
}

}  // namespace thaw
