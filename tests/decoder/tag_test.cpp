// SPDX-License-Identifier: Apache-2.0
#include "decoder/tag.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "decoder/tag_reference.h"

namespace thaw {
namespace {

using Entry = std::vector<float>;

Entry entry_of(const Tag& tag, size_t dim = 12) {
  Entry entry(dim);
  expected_entry(tag, entry);
  return entry;
}

/// All tags whose fields are at either end of their range, then random ones.
std::vector<Tag> tags(size_t random_count) {
  std::vector<Tag> result;
  for (unsigned ends = 0; ends < 64; ++ends) {
    const auto end = [&](unsigned bit, int64_t largest) {
      return (ends >> bit & 1) != 0 ? largest : 0;
    };
    result.push_back(
        {end(0, 15), end(1, 4095), end(2, 65535), end(3, 15), end(4, 15), end(5, 1) != 0});
  }
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t bound) { return static_cast<int64_t>(random() % bound); };
  for (size_t i = 0; i < random_count; ++i) {
    result.push_back({below(16), below(4096), below(65536), below(16), below(16), below(2) == 1});
  }
  return result;
}

TEST(Tag, every_tag_is_read_back_from_entries_of_any_length) {
  for (const Tag& tag : tags(2000)) {
    for (const size_t dim : {size_t{12}, size_t{13}, size_t{16}, size_t{24}, size_t{256}}) {
      ASSERT_EQ(Tag::parse(entry_of(tag, dim)), tag) << describe(tag);
    }
  }
}

TEST(Tag, digits_come_least_significant_first) {
  const Tag tag{
      .row = 1, .position = 0x432, .generation = 0x8765, .layer = 9, .head = 10, .value = true};
  Tag::Digits expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 0};
  unsigned sum = 1;
  for (unsigned i = 0; i < 11; ++i) sum += (2 * i + 1) * expected[i];
  expected[11] = static_cast<uint8_t>(sum % 16);
  EXPECT_EQ(tag.digits(), expected);
}

TEST(Tag, of_a_field_out_of_range_the_low_bits_count) {
  const Tag out{.row = -1, .position = -1, .generation = 65536 + 7, .layer = 16, .head = 17};
  const Tag in{.row = 15, .position = 4095, .generation = 7, .layer = 0, .head = 1};
  EXPECT_EQ(out.digits(), in.digits());
}

TEST(Tag, one_wrong_digit_is_always_noticed) {
  for (const Tag& tag : tags(500)) {
    Entry entry = entry_of(tag);
    for (float& element : entry) {
      const float right = element;
      for (float wrong = 0; wrong <= 15; ++wrong) {
        element = wrong;
        if (wrong != right) {
          ASSERT_EQ(Tag::parse(entry), std::nullopt) << describe(tag);
        }
      }
      element = right;
    }
    ASSERT_EQ(Tag::parse(entry), tag);
  }
}

TEST(Tag, exchanged_neighbours_are_noticed_unless_they_differ_by_8) {
  size_t exchanged = 0, missed = 0;
  for (const Tag& tag : tags(2000)) {
    Entry entry = entry_of(tag);
    // The check itself has no weight like the others'; its neighbour is key or value, 0 or 1.
    for (size_t i = 0; i + 2 < entry.size(); ++i) {
      const float difference = entry[i] - entry[i + 1];
      if (difference == 0) continue;
      std::swap(entry[i], entry[i + 1]);
      ++exchanged;
      if (const bool found = Tag::parse(entry).has_value()) {
        ++missed;
        ASSERT_TRUE(found && std::abs(difference) == 8) << describe(tag);
      }
      std::swap(entry[i], entry[i + 1]);
    }
  }
  EXPECT_LT(missed * 10, exchanged);
}

TEST(Tag, equal_elements_are_no_tag) {
  for (float element = 0; element <= 15; ++element) {
    EXPECT_EQ(Tag::parse(Entry(12, element)), std::nullopt) << element;
    EXPECT_EQ(Tag::parse(Entry(16, element)), std::nullopt) << element;
  }
}

TEST(Tag, a_wrong_repetition_is_noticed) {
  for (const Tag& tag : tags(20)) {
    Entry entry = entry_of(tag, 40);
    for (size_t i = 0; i < entry.size(); ++i) {
      entry[i] += 1;
      ASSERT_EQ(Tag::parse(entry), std::nullopt) << "element " << i << " of " << describe(tag);
      entry[i] -= 1;
    }
  }
}

TEST(Tag, what_is_no_digit_is_no_tag) {
  const Tag tag{.row = 3, .position = 100, .generation = 9};
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float element : {-1.0F, 16.0F, 3.5F, 1e30F, infinity, -infinity, nan, unowned_slot}) {
    for (size_t i = 0; i < 12; ++i) {
      Entry entry = entry_of(tag);
      entry[i] = element;
      EXPECT_EQ(Tag::parse(entry), std::nullopt) << element << " at " << i;
    }
  }
  EXPECT_EQ(Tag::parse(entry_of(tag, 11)), std::nullopt);
  EXPECT_EQ(Tag::parse(Entry()), std::nullopt);
}

TEST(Tag, digits_and_the_unowned_number_are_exact_in_every_dtype) {
  Entry numbers(16);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  numbers.push_back(unowned_slot);
  const at::Tensor exact = at::tensor(numbers);
  for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn}) {
    EXPECT_TRUE(exact.to(dtype).to(at::kFloat).equal(exact)) << dtype;
  }
}

TEST(DescribeEntry, says_who_wrote_a_tag) {
  const Tag key{.row = 1, .position = 7, .generation = 6};
  EXPECT_EQ(describe_entry(entry_of(key, 16)),
            "row 1, position 7, written by op 6 (key, layer 0, head 0)");
  const Tag value{
      .row = 0, .position = 4095, .generation = 65535, .layer = 3, .head = 2, .value = true};
  EXPECT_EQ(describe_entry(entry_of(value)),
            "row 0, position 4095, written by op 65535 (value, layer 3, head 2)");
}

TEST(DescribeEntry, names_unowned_slots) {
  EXPECT_EQ(describe_entry(Entry(16, unowned_slot)), "nothing (unowned)");
}

TEST(DescribeEntry, names_0xFF_bytes_in_every_dtype_and_no_other_nan) {
  for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16, at::kFloat8_e4m3fn}) {
    const at::Tensor bytes = at::empty({16}, dtype);
    std::fill_n(static_cast<unsigned char*>(bytes.mutable_data_ptr()), bytes.nbytes(), 0xFF);
    const at::Tensor numbers = bytes.to(at::kFloat);
    EXPECT_EQ(describe_entry({numbers.const_data_ptr<float>(), 16}), "0xFF bytes") << dtype;
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(describe_entry(Entry{-nan, -nan}), "no tag: -nan, -nan");
}

TEST(DescribeEntry, shows_the_numbers_of_anything_else) {
  Entry entry(16, 0);
  entry[0] = 3;
  entry[1] = -1.5F;
  EXPECT_EQ(describe_entry(entry), "no tag: 3, -1.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...");
  EXPECT_EQ(describe_entry(Entry(2, 1)), "no tag: 1, 1");
}

}  // namespace
}  // namespace thaw
