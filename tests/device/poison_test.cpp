// SPDX-License-Identifier: Apache-2.0
//
// Memory that nobody wrote says so, and memory of the device cannot be read by accident.
#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Each;

class Poison : public DeviceTest {
 protected:
  /// A tensor on memory that another held with sevens and let go.
  static at::Tensor on_used_memory() {
    const uintptr_t address = address_of(at::full({64}, 7, on_device()));
    at::Tensor next = at::empty({64}, on_device());
    EXPECT_EQ(address_of(next), address);
    return next;
  }
};

TEST_F(Poison, fresh_memory_holds_bytes_of_ones) {
  EXPECT_TRUE(all_bytes_are(device_, at::empty({64}, on_device()), 0xFF));
  EXPECT_TRUE(all_bytes_are(device_, at::empty({64}, on_device(at::kLong)), 0xFF));
  EXPECT_TRUE(all_bytes_are(device_, sim::pinned_empty({64}, at::kFloat), 0xFF));
  EXPECT_FALSE(all_bytes_are(device_, at::zeros({64}, on_device()), 0xFF));
}

TEST_F(Poison, fresh_memory_of_a_pool_holds_bytes_of_ones_until_the_first_replay) {
  const at::Tensor x = at::ones({64}, on_device());
  for (bool poison_freed : {true, false}) {
    device_.set_poison_freed(poison_freed);
    at::Tensor sum, untouched;
    auto graph = capture([&] {
      sum = x + 1;
      untouched = at::empty({64}, on_device());
    });
    EXPECT_TRUE(all_bytes_are(device_, sum, 0xFF));
    graph->replay();
    EXPECT_FALSE(all_bytes_are(device_, sum, 0xFF));
    EXPECT_TRUE(all_bytes_are(device_, untouched, 0xFF));

    sum.reset();
    at::Tensor again;
    auto second = capture([&] { again = x + 2; }, graph->pool());
    EXPECT_TRUE(all_bytes_are(device_, again, 0xFF)) << "also where the pool was used before";
  }
}

TEST_F(Poison, reads_as_not_a_number_and_as_minus_one) {
  for (auto type : {at::kFloat, at::kHalf, at::kBFloat16, at::kDouble, at::kFloat8_e4m3fn}) {
    const at::Tensor host = at::empty({4}, on_device(type)).cpu().to(at::kFloat);
    EXPECT_TRUE(host.isnan().all().item<bool>()) << type;
  }
  EXPECT_THAT(values<int64_t>(at::empty({4}, on_device(at::kLong))), Each(-1));
  EXPECT_THAT(values<int32_t>(at::empty({4}, on_device(at::kInt))), Each(-1));
  EXPECT_THAT(values<int8_t>(at::empty({4}, on_device(at::kChar))), Each(-1));
}

TEST_F(Poison, freed_memory_is_filled_if_the_option_says_so) {
  device_.set_poison_freed(true);
  EXPECT_TRUE(all_bytes_are(device_, on_used_memory(), 0xFF));
}

TEST_F(Poison, freed_memory_is_left_alone_if_the_option_says_so) {
  device_.set_poison_freed(false);
  EXPECT_THAT(values(on_used_memory()), Each(7));
}

TEST_F(Poison, the_option_is_set_at_construction_and_comes_back_with_a_reset) {
  EXPECT_TRUE(all_bytes_are(device_, on_used_memory(), 0xFF)) << "the default";
  device_.set_poison_freed(false);
  device_.reset();
  EXPECT_TRUE(all_bytes_are(device_, on_used_memory(), 0xFF));

  SimDevice lenient({.poison_freed = false});
  EXPECT_THAT(values(on_used_memory()), Each(7));
  lenient.set_poison_freed(true);
  lenient.reset();
  EXPECT_THAT(values(on_used_memory()), Each(7));
}

TEST_F(Poison, a_graph_that_reads_a_freed_input_reads_what_the_option_left) {
  for (bool poison_freed : {true, false}) {
    device_.set_poison_freed(poison_freed);
    at::Tensor out;
    at::Tensor input = at::full({128}, 7, on_device());
    auto graph = capture([&] { out = input.clone(); });
    input.reset();
    graph->replay();
    if (poison_freed) {
      EXPECT_TRUE(all_bytes_are(device_, out, 0xFF));
    } else {
      EXPECT_THAT(values(out), Each(7));
    }
  }
}

/// Each statement runs in a fresh process, since a forked one would share the device's memory.
class HostAccess : public DeviceTest {
 protected:
  HostAccess() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  at::Tensor x_ = at::ones({4}, on_device());
};
using HostAccessDeathTest = HostAccess;

TEST_F(HostAccessDeathTest, a_read_of_device_memory_through_a_host_pointer_faults) {
  const volatile float* pointer = x_.const_data_ptr<float>();
  EXPECT_DEATH({ [[maybe_unused]] float value = *pointer; }, "");
}

TEST_F(HostAccessDeathTest, a_write_to_device_memory_through_a_host_pointer_faults) {
  volatile float* pointer = x_.mutable_data_ptr<float>();
  EXPECT_DEATH(*pointer = 1, "");
}

TEST_F(HostAccess, pinned_memory_is_the_hosts_as_well) {
  at::Tensor pinned = sim::pinned_empty({4}, at::kFloat);
  pinned.mutable_data_ptr<float>()[2] = 5;
  EXPECT_EQ(pinned.const_data_ptr<float>()[2], 5);
  x_.copy_(pinned);
  EXPECT_EQ(values(x_)[2], 5);
}

TEST_F(HostAccess, the_device_reads_writes_and_fills_without_a_pointer) {
  const std::byte one_byte[] = {std::byte{0x40}};
  device_.write(x_, 3, one_byte);  // 1.0f is 0x3F800000
  const auto read = bytes(device_, x_);
  EXPECT_EQ(read[2], std::byte{0x80});
  EXPECT_EQ(read[3], std::byte{0x40});
  EXPECT_EQ(read[7], std::byte{0x3F});
  device_.fill(x_.narrow(0, 1, 2), std::byte{0});
  EXPECT_EQ(values(x_), (std::vector<float>{4, 0, 0, 1}));
}

}  // namespace
}  // namespace thaw::test
