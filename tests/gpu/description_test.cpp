// SPDX-License-Identifier: Apache-2.0
//
// What is made of CUDA's answers. Needs no GPU.
#include "device/cuda/describe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/allocations.h"

namespace thaw::cuda {
namespace {

constexpr uint64_t base = 0x7f0000000000;

std::optional<MemoryUse> one_block(uintptr_t address) {
  if (address < base || address >= base + 512) return {};
  MemoryUse use;
  use.address = base;
  use.bytes = 400;
  return use;
}

template <class T>
std::vector<Argument> described(const T& parameter) {
  std::vector<Argument> arguments;
  describe_parameter(3, std::as_bytes(std::span(&parameter, 1)), one_block, arguments);
  return arguments;
}

TEST(Parameter, of_up_to_eight_bytes_is_one_integer) {
  const auto small = described(int32_t{-8});
  ASSERT_EQ(small.size(), 1u);
  EXPECT_EQ(small[0].name, "parameter 3");
  EXPECT_EQ(small[0].type, "4 bytes");
  EXPECT_EQ(small[0].text, "-8");
  EXPECT_FALSE(small[0].memory.has_value());
  EXPECT_EQ(described(true)[0].text, "1");
  EXPECT_EQ(described(int64_t{8})[0].text, "8");
  EXPECT_EQ(described(1.5)[0].text, "0x3ff8000000000000");
  EXPECT_EQ(described(1.5F)[0].text, "1069547520");
}

TEST(Parameter, that_is_an_address_of_known_memory_is_that_memory) {
  const auto pointer = described(base + 64);
  ASSERT_TRUE(pointer[0].memory.has_value());
  EXPECT_EQ(pointer[0].memory->address, base);
  EXPECT_EQ(pointer[0].text, "address, 64 bytes into 400 bytes");
  EXPECT_FALSE(described(base + 512)[0].memory.has_value());
}

TEST(Parameter, that_is_a_structure_is_told_word_by_word) {
  struct Arguments {
    uint64_t keys = base, values = base + 256;
    int64_t slots = 16;
    int32_t window = 4;
    int32_t padding = 0;
    int16_t rest[2] = {1, 0};
    int16_t end[2] = {0, 0};
  };
  const auto words = described(Arguments{});
  ASSERT_EQ(words.size(), 5u);
  EXPECT_TRUE(words[0].memory && words[1].memory);
  EXPECT_EQ(words[1].name, "parameter 3, bytes 8 to 15");
  EXPECT_EQ(words[2].text, "16");
  EXPECT_EQ(words[3].text, "4");
}

TEST(Parameter, that_ends_within_a_word_is_told_to_its_end) {
  const std::array<std::byte, 12> bytes{};
  std::vector<Argument> arguments;
  describe_parameter(0, bytes, one_block, arguments);
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[1].name, "parameter 0, bytes 8 to 11");
  EXPECT_EQ(arguments[1].type, "4 bytes");
}

TEST(Allocations, an_address_belongs_to_the_block_that_holds_it) {
  const Allocations allocations({{.address = 4096, .bytes = 512, .requested = 16, .pool = 0},
                                 {.address = 1024, .bytes = 512, .requested = 400, .pool = 0}});
  ASSERT_TRUE(allocations.find(1024 + 100, 0).has_value());
  EXPECT_EQ(allocations.find(1024 + 100, 0)->address, 1024u);
  EXPECT_EQ(allocations.find(1024 + 511, 0)->bytes, 400u);
  EXPECT_FALSE(allocations.find(1024 + 512, 0).has_value());
  EXPECT_FALSE(allocations.find(1023, 0).has_value());
  EXPECT_EQ(allocations.find(4096, 0)->address, 4096u);
}

TEST(Allocations, a_free_block_belongs_to_nobody_unless_it_is_the_graphs_own) {
  const Allocations allocations({{.address = 1024, .bytes = 512, .requested = 0, .pool = 0},
                                 {.address = 2048, .bytes = 512, .requested = 0, .pool = 7},
                                 {.address = 4096, .bytes = 512, .requested = 8, .pool = 7}});
  EXPECT_FALSE(allocations.find(1024, 7).has_value());
  EXPECT_FALSE(allocations.find(2048, 0).has_value());
  EXPECT_FALSE(allocations.find(2048, 8).has_value());
  ASSERT_TRUE(allocations.find(2048, 7).has_value());
  EXPECT_TRUE(allocations.find(2048, 7)->own_pool);
  EXPECT_EQ(allocations.find(2048, 7)->bytes, 512u);
  EXPECT_FALSE(allocations.find(4096, 8)->own_pool);
}

}  // namespace
}  // namespace thaw::cuda
