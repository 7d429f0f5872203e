// SPDX-License-Identifier: Apache-2.0
#include "reference/tag_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "decoder/tag.h"
#include "reference/elements.h"

namespace thaw {
namespace {

Tag tag_of(const EntryName& entry, const Provenance& provenance) {
  return {.row = provenance.row,
          .position = entry.position,
          .generation = provenance.generation,
          .layer = entry.layer,
          .head = entry.head,
          .value = entry.role == Role::values};
}

std::string describe_sum(int64_t from, int64_t to) {
  if (from == to) return "0, no position is visible";
  return fmt::format("the sum over positions {} to {}", from, to - 1);
}

}  // namespace

TagReference::TagReference(const Settings& settings, const CacheSpec& cache, const Ledger& ledger)
    : spec_(cache),
      ledger_(ledger),
      slots_(ledger.slots()),
      group_(settings.heads / settings.kv_heads) {
  size_t sums = 0;
  for (const LayerSpec& layer : cache.layers) {
    if (layer.key_dim != layer.value_dim || layer.key_dtype != layer.value_dtype) {
      throw std::invalid_argument("the tag decoder needs keys and values of one dim and dtype");
    }
    layer_sums_.push_back(sums);
    sums += static_cast<size_t>(cache.rows * layer.kv_heads * slots_ * layer.key_dim);
  }
  if (ledger.layout() == Layout::linear) sums_.resize(sums);
}

void TagReference::step(const Ledger& /*ledger*/, const StepPlan& plan, int64_t /*number*/,
                        bool /*commits*/) {
  plan_ = plan;
}

void TagReference::follow(const Ledger& /*ledger*/) {}

const TagReference::Encoded& TagReference::encoded(at::ScalarType dtype) {
  for (const auto& [known, digits] : encoded_) {
    if (known == dtype) return digits;
  }
  Encoded digits;
  for (size_t digit = 0; digit < digits.size(); ++digit) {
    digits[digit] = encode_element(dtype, static_cast<float>(digit));
  }
  return encoded_.emplace_back(dtype, digits).second;
}

void TagReference::put_entry(const EntryName& entry, const Provenance& provenance,
                             at::ScalarType dtype, const Place& place, std::byte* to) {
  const Tag::Digits digits = tag_of(entry, provenance).digits();
  const Encoded& bytes = encoded(dtype);
  const size_t element_size = c10::elementSize(dtype);
  size_t digit = 0;
  for (int64_t i = 0; i < place.dim; ++i, to += place.stride) {
    std::memcpy(to, bytes[digits[digit]].data(), element_size);
    if (++digit == digits.size()) digit = 0;
  }
  if (keeps_sums()) add_to_sum(entry, place.dim, digits);
}

void TagReference::add_to_sum(const EntryName& entry, int64_t dim,
                              std::span<const uint8_t> digits) {
  float* sum = sums_.data() + sum_index(entry.layer, entry.row, entry.head, entry.position);
  const bool key = entry.role == Role::keys;
  const float* previous = entry.position > 0 ? sum - dim : nullptr;
  size_t digit = 0;
  for (int64_t i = 0; i < dim; ++i) {
    // Keys come before values: they start the sum, values complete it.
    const auto number = static_cast<float>(digits[digit]);
    sum[i] = key ? number + (previous != nullptr ? previous[i] : 0.0F) : sum[i] + 2.0F * number;
    if (++digit == digits.size()) digit = 0;
  }
}

size_t TagReference::sum_index(int64_t layer, int64_t row, int64_t head, int64_t position) const {
  const LayerSpec& spec = spec_.layers[static_cast<size_t>(layer)];
  const int64_t entry = (row * spec.kv_heads + head) * slots_ + position;
  return layer_sums_[static_cast<size_t>(layer)] + static_cast<size_t>(entry * spec.key_dim);
}

TagReference::Range TagReference::seen_by(const OutputName& name) const {
  const auto place = std::find(plan_.rows.begin(), plan_.rows.end(), name.row) - plan_.rows.begin();
  const int64_t first = plan_.positions[static_cast<size_t>(place)];
  return {ledger_.first_seen(first, plan_.q_len, name.position - first), name.position + 1};
}

std::span<const float> TagReference::sum_over(const OutputName& name, Range range) const {
  const auto dim = static_cast<size_t>(spec_.layers[static_cast<size_t>(name.part)].key_dim);
  const int64_t head = name.head / group_;
  if (keeps_sums()) {
    const auto through = [&](int64_t position) {
      return std::span(sums_).subspan(sum_index(name.part, name.row, head, position), dim);
    };
    if (range.from == 0) return through(range.to - 1);
    // Exact: all are small integers.
    const auto all = through(range.to - 1);
    sum_.assign(all.begin(), all.end());
    std::transform(sum_.begin(), sum_.end(), through(range.from - 1).begin(), sum_.begin(),
                   std::minus{});
    return sum_;
  }
  sum_.assign(dim, 0.0F);
  for (int64_t position = range.from; position < range.to; ++position) {
    for (const Role role : {Role::keys, Role::values}) {
      const EntryName entry{name.part, name.row, head, position, role};
      const Tag::Digits digits = tag_of(entry, ledger_.provenance(name.row, position)).digits();
      const float factor = role == Role::keys ? 1.0F : 2.0F;
      for (size_t i = 0; i < dim; ++i) {
        sum_[i] += factor * static_cast<float>(digits[i % digits.size()]);
      }
    }
  }
  return sum_;
}

std::span<const float> TagReference::output(const OutputName& name) const {
  return sum_over(name, seen_by(name));
}

std::string TagReference::describe_entry(std::span<const float> entry) const {
  return thaw::describe_entry(entry);
}

std::string TagReference::describe(const OutputName& name) const {
  return fmt::format("layer {}, row {}, query head {}, position {}", name.part, name.row, name.head,
                     name.position);
}

/// Which of the sums that some token of the row sees this is, if it is one: a frozen mask shows as
/// too short a one.
std::string TagReference::describe_output(const OutputName& name,
                                          std::span<const float> output) const {
  const auto is = [&](Range range) {
    const auto sum = sum_over(name, range);
    return std::equal(sum.begin(), sum.end(), output.begin());
  };
  if (const Range seen = seen_by(name); is(seen)) return describe_sum(seen.from, seen.to);
  const int64_t kept = ledger_.first_kept(name.row);
  for (int64_t position = kept; position < ledger_.length(name.row); ++position) {
    const Range range{std::max(kept, ledger_.first_seen(position, 1, 0)), position + 1};
    if (is(range)) return describe_sum(range.from, range.to);
  }
  return fmt::format("{}, ...: no sum of its row's entries",
                     fmt::join(output.begin(), output.begin() + 3, ", "));
}

}  // namespace thaw
