// SPDX-License-Identifier: Apache-2.0
//
// The verbs of a subject, as far as no oracle shows them: what shares memory with what, what a
// sleep loses and what it keeps, and the order in which a load arrives.

#include "subject/subject.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "subject/registry.h"

namespace thaw {
namespace {

class SubjectTest : public testing::Test {
 protected:
  std::unique_ptr<Subject> make(const std::string& settings, Kernels kernels) {
    const Case c = parse_case("thaw case 1\n" + settings, "test");
    return Registry::standard().find("static")->make(device_, c, kernels);
  }

  std::vector<std::byte> bytes_of(const at::Tensor& tensor) const {
    std::vector<std::byte> scratch;
    const auto bytes = device_.read(tensor, scratch);
    return {bytes.begin(), bytes.end()};
  }

  std::vector<std::byte> bytes_of(const MemoryUse& use) const {
    return bytes_of(
        at::for_blob(reinterpret_cast<void*>(use.address), {static_cast<int64_t>(use.bytes)})
            .options(at::TensorOptions().dtype(at::kByte))
            .target_device(device_.torch_device())
            .make_tensor());
  }

  const c10::InferenceMode no_autograd_;
  SimDevice device_;
};

bool all_ff(const std::vector<std::byte>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0xFF}; });
}

TEST_F(SubjectTest, sleep_loses_keys_values_and_pools_and_keeps_everything_else) {
  const auto subject = make("rows 2\nslots 4\n", Kernels::torch);
  subject->refill({1, {0, -1}, {0, -1}}, 1);
  subject->step();
  subject->capture("g", "");
  subject->replay("g");
  const std::vector<NamedMemory> before = subject->named_memory();
  std::vector<std::pair<at::Tensor, std::vector<std::byte>>> kept;
  for (const Buffer& buffer : subject->cache().buffers()) {
    if (buffer.role == Role::keys || buffer.role == Role::values) continue;
    kept.emplace_back(buffer.tensor, bytes_of(buffer.tensor));
  }

  subject->sleep();

  int64_t pool_memory = 0;
  for (const MemoryUse& use : subject->find_graph("g")->graph->memory()) {
    if (!use.own_pool) continue;
    EXPECT_TRUE(all_ff(bytes_of(use)));
    ++pool_memory;
  }
  EXPECT_GT(pool_memory, 0);
  for (const Buffer& buffer : subject->cache().buffers()) {
    const bool lost = buffer.role == Role::keys || buffer.role == Role::values;
    EXPECT_EQ(all_ff(bytes_of(buffer.tensor)), lost) << buffer.name;
  }
  for (const auto& [tensor, bytes] : kept) EXPECT_EQ(bytes_of(tensor), bytes);
  const std::vector<NamedMemory> after = subject->named_memory();
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].memory.address, after[i].memory.address) << before[i].name;
    EXPECT_EQ(before[i].memory.generation, after[i].memory.generation) << before[i].name;
  }
}

TEST_F(SubjectTest, rule_R15_graphs_of_one_pool_share_its_memory_and_others_have_their_own) {
  const auto subject = make("", Kernels::torch);
  subject->refill({1, {0}, {0}}, 1);
  subject->capture("a", "p");
  subject->capture("b", "p");
  subject->capture("c", "");
  subject->capture("d", "q");
  const auto pool = [&](const char* name) { return subject->find_graph(name)->graph->pool(); };
  EXPECT_EQ(pool("a"), pool("b"));
  EXPECT_NE(pool("a"), pool("c"));
  EXPECT_NE(pool("a"), pool("d"));
  EXPECT_NE(pool("c"), pool("d"));
}

TEST_F(SubjectTest, rule_R15_the_pool_of_dropped_graphs_is_gone) {
  const auto subject = make("", Kernels::registered);
  subject->refill({1, {0}, {0}}, 1);
  subject->capture("a", "p");
  const uint64_t pool = subject->find_graph("a")->graph->pool();
  subject->drop("a");
  subject->capture("a", "p");
  EXPECT_NE(subject->find_graph("a")->graph->pool(), pool);
}

TEST_F(SubjectTest, rule_R16_a_capture_that_is_made_to_fail_leaves_an_empty_graph_once) {
  const auto subject = make("", Kernels::registered);
  subject->refill({1, {0}, {0}}, 1);
  subject->fail_next(fail_capture);
  subject->capture("a", "p");
  subject->capture("b", "p");
  EXPECT_EQ(subject->find_graph("a")->graph, nullptr);
  EXPECT_NE(subject->find_graph("b")->graph, nullptr);
}

TEST_F(SubjectTest, a_load_copies_from_memory_of_its_own) {
  const auto subject = make("slots 4\n", Kernels::registered);
  const at::Tensor keys = subject->cache().buffers()[0].tensor;
  std::vector<std::byte> bytes(8, std::byte{0x11});
  subject->load(std::vector<BufferBytes>{{keys, 4, bytes}});
  subject->await_load();
  device_.synchronize();
  const std::vector<std::byte> found = bytes_of(keys);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), found.begin() + 4));
  EXPECT_EQ(found[3], std::byte{0});
  EXPECT_EQ(found[12], std::byte{0});
}

TEST_F(SubjectTest, what_a_step_returned_outlives_later_refills) {
  const auto subject = make("slots 8\nprefill 0 3\n", Kernels::registered);
  subject->refill({3, {0}, {0}}, 1);
  subject->step();
  const std::vector<std::byte> returned = bytes_of(subject->returned());
  subject->hold();
  subject->refill({1, {0}, {3}}, 2);
  EXPECT_EQ(bytes_of(subject->returned()), returned);
  subject->step();
  EXPECT_NE(bytes_of(subject->returned()), returned);
  EXPECT_EQ(bytes_of(subject->held()), returned);
}

}  // namespace
}  // namespace thaw
