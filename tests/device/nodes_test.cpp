// SPDX-License-Identifier: Apache-2.0
//
// What a graph tells of its operations: names, and arguments by the names of their schemas.
#include <ATen/TensorIndexing.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>

#include <map>

#include "device/sim/capture.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Nodes : public DeviceTest {
 protected:
  std::vector<GraphNode> nodes_of(const std::function<void()>& step) {
    return capture(step)->nodes();
  }
  GraphNode only_node_of(const std::function<void()>& step) {
    const auto nodes = nodes_of(step);
    EXPECT_EQ(nodes.size(), 1u);
    return nodes.empty() ? GraphNode{} : nodes.front();
  }
  static Argument argument(const GraphNode& node, std::string_view name) {
    for (const Argument& each : node.arguments) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << node.operation << " has no argument " << name;
    return {};
  }
  static std::string text(const GraphNode& node, std::string_view name) {
    return argument(node, name).text;
  }

  at::Tensor x_ = at::ones({2, 3}, on_device());
};

TEST_F(Nodes, have_the_operators_name_with_its_overload) {
  const auto nodes = nodes_of([&] {
    x_.zero_();
    x_.fill_(1);
    x_.relu_();
  });
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].operation, "aten::zero_");
  EXPECT_EQ(nodes[1].operation, "aten::fill_.Scalar");
  EXPECT_EQ(nodes[2].operation, "aten::relu_");
  EXPECT_THAT(nodes[0].after, ElementsAre());
  EXPECT_THAT(nodes[1].after, ElementsAre(0));
  EXPECT_THAT(nodes[2].after, ElementsAre(1));
}

TEST_F(Nodes, show_a_frozen_host_integer) {
  int64_t length = 8;
  const GraphNode node = only_node_of([&] { x_.fill_(length); });
  length = 9;
  EXPECT_EQ(text(node, "value"), "8");
}

TEST_F(Nodes, show_a_frozen_position_that_differs_between_two_captures) {
  const at::Tensor index = at::zeros({1}, on_device(at::kLong));
  const auto position_at = [&](int64_t length) {
    return text(only_node_of([&] { x_.index_fill_(0, index, length); }), "value");
  };
  EXPECT_EQ(position_at(8), "8");
  EXPECT_EQ(position_at(9), "9");
}

TEST_F(Nodes, rule_63_arguments_of_each_type_are_shown_under_their_names) {
  const GraphNode sum = only_node_of([&] {
    at::sum(x_, at::IntArrayRef({0, 1}), /*keepdim=*/true);
  });
  EXPECT_THAT(sum.operation, HasSubstr("aten::sum."));
  EXPECT_EQ(text(sum, "dim"), "[0, 1]");
  EXPECT_EQ(text(sum, "keepdim"), "true");
  EXPECT_THAT(argument(sum, "dim").type, HasSubstr("int[]"));
  EXPECT_EQ(argument(sum, "keepdim").type, "bool");
  EXPECT_FALSE(argument(sum, "dim").memory);

  const GraphNode scaled = only_node_of([&] { x_.add_(x_, 2.5); });
  EXPECT_EQ(text(scaled, "alpha"), "2.5");
  const at::Tensor index = at::zeros({1}, on_device(at::kLong));
  const GraphNode filled = only_node_of([&] { x_.index_fill_(0, index, 1.5); });
  EXPECT_EQ(text(filled, "dim"), "0");
  EXPECT_EQ(argument(filled, "dim").type, "int");
}

TEST_F(Nodes, show_the_value_of_a_host_tensor_without_dimensions) {
  at::Tensor scalar = at::scalar_tensor(5, at::kDouble);
  const GraphNode node = only_node_of([&] { x_.mul_(scalar); });
  scalar.fill_(100);
  EXPECT_THAT(text(node, "other"), AllOf(HasSubstr("5"), Not(HasSubstr("100"))));
  EXPECT_FALSE(argument(node, "other").memory) << "a value, no address";
}

TEST_F(Nodes, show_a_tensor_by_dtype_sizes_and_strides_and_its_memory) {
  at::Tensor other = at::ones({3, 2}, on_device(at::kHalf)).t();
  x_ = x_.to(at::kHalf);
  const at::Tensor mask = at::ones({2, 3}, on_device(at::kBool));
  const GraphNode node = only_node_of([&] { x_.masked_scatter_(mask, other); });
  const Argument self = argument(node, "self"), added = argument(node, "source");
  EXPECT_THAT(self.text, AllOf(HasSubstr("float16"), HasSubstr("[2, 3]"), HasSubstr("[3, 1]")));
  EXPECT_THAT(added.text, AllOf(HasSubstr("float16"), HasSubstr("[2, 3]"), HasSubstr("[1, 2]")));
  EXPECT_THAT(text(node, "mask"), HasSubstr("bool"));
  EXPECT_EQ(self.type, "Tensor");
  ASSERT_TRUE(self.memory && added.memory);
  EXPECT_TRUE(self.memory->read);
  EXPECT_TRUE(self.memory->written);
  EXPECT_TRUE(added.memory->read);
  EXPECT_FALSE(added.memory->written);
  EXPECT_EQ(added.memory->address, device_.memory_of(other).address);
  EXPECT_EQ(added.memory->generation, device_.memory_of(other).generation);
}

TEST_F(Nodes, tell_apart_two_places_of_one_storage) {
  at::Tensor slots = at::zeros({8, 4}, on_device());
  const auto self_text = [&](int64_t slot) {
    return text(only_node_of([&] { slots.select(0, slot).fill_(1); }), "self");
  };
  EXPECT_NE(self_text(3), self_text(4)) << "the offset is a frozen host value";
  EXPECT_EQ(self_text(3), self_text(3));
}

TEST_F(Nodes, show_results_as_memory_that_is_written_in_the_graphs_pool) {
  at::Tensor out;
  const GraphNode node = only_node_of([&] { out = x_ + 1; });
  bool found = false;
  for (const Argument& each : node.arguments) {
    if (!each.memory || each.memory->address != device_.memory_of(out).address) continue;
    found = true;
    EXPECT_TRUE(each.memory->written);
    EXPECT_FALSE(each.memory->read);
    EXPECT_TRUE(each.memory->own_pool);
  }
  EXPECT_TRUE(found);
}

TEST_F(Nodes, show_each_tensor_of_a_list) {
  const at::Tensor other = at::ones({1, 3}, on_device());
  const GraphNode node = only_node_of([&] { at::cat({x_, other}, 0); });
  std::vector<uintptr_t> read;
  for (const Argument& each : node.arguments) {
    if (each.memory && each.memory->read) read.push_back(each.memory->address);
  }
  EXPECT_THAT(read, ElementsAre(device_.memory_of(x_).address, device_.memory_of(other).address));
  EXPECT_EQ(text(node, "dim"), "0");
}

TEST_F(Nodes, show_an_optional_index_list) {
  using at::indexing::Slice;
  const at::Tensor index = at::zeros({2}, on_device(at::kLong));
  const GraphNode node = only_node_of([&] { x_.index_put_({Slice(), index}, x_.slice(1, 0, 2)); });
  EXPECT_THAT(node.operation, HasSubstr("index_put"));
  bool found = false;
  for (const Argument& each : node.arguments) {
    found |= each.memory && each.memory->address == device_.memory_of(index).address;
  }
  EXPECT_TRUE(found);
}

TEST_F(Nodes, show_a_copy_with_both_its_sides) {
  at::Tensor pinned = sim::pinned_empty({2, 3}, at::kFloat);
  const GraphNode node = only_node_of([&] { x_.copy_(pinned, /*non_blocking=*/true); });
  std::map<bool, MemoryUse> sides;
  for (const Argument& each : node.arguments) {
    if (each.memory) sides[each.memory->host] = *each.memory;
  }
  ASSERT_EQ(sides.size(), 2u);
  EXPECT_TRUE(sides[true].read && !sides[true].written);
  EXPECT_TRUE(sides[false].written);
  EXPECT_EQ(sides[true].address, device_.memory_of(pinned).address);
}

TEST_F(Nodes, are_the_same_texts_in_the_dot_text) {
  auto graph = capture([&] { x_.add_(x_, 2.5); });
  EXPECT_THAT(graph->dot(), AllOf(HasSubstr("aten::add"), HasSubstr("2.5")));
}

}  // namespace
}  // namespace thaw::test
