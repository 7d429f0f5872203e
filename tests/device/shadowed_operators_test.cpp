// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "device/sim/operators.h"
#include "device_test.h"

namespace thaw::test {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(ShadowedOperators, the_list_in_the_source_is_what_this_libtorchs_dispatcher_says) {
  EXPECT_EQ(sim::shadowed_operators(), sim::find_shadowed_operators())
      << "regenerate src/device/sim/shadowed.inc";
}

TEST(ShadowedOperators, the_dispatcher_knows_the_ones_that_are_known_to_be_shadowed) {
  EXPECT_THAT(sim::find_shadowed_operators(),
              IsSupersetOf({"native_layer_norm", "native_group_norm", "addr"}));
  EXPECT_THAT(sim::find_shadowed_operators(), Not(Contains("add.Tensor")));
}

class ShadowedOperatorsOnTheDevice : public DeviceTest {};

TEST_F(ShadowedOperatorsOnTheDevice, are_one_node_and_not_the_parts_of_a_composition) {
  const at::Tensor x = at::ones({2, 6}, on_device());
  auto norm = capture([&] { at::layer_norm(x, {6}); });
  ASSERT_EQ(norm->node_count(), 1u);
  EXPECT_EQ(norm->nodes()[0].operation, "aten::native_layer_norm");
}

TEST_F(ShadowedOperatorsOnTheDevice, attention_is_one_node_too) {
  const at::Tensor x = at::ones({1, 2, 4, 8}, on_device());
  auto attention = capture([&] { at::scaled_dot_product_attention(x, x, x); });
  ASSERT_EQ(attention->node_count(), 1u);
  EXPECT_EQ(attention->nodes()[0].operation, "aten::scaled_dot_product_attention");
}

}  // namespace
}  // namespace thaw::test
