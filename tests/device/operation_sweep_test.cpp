// SPDX-License-Identifier: Apache-2.0
//
// LibTorch's operations on the device give the CPU's bits: eagerly, and replayed from a graph.
// Whether a GPU gives the same bits is another question, which these tests do not touch.
#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include "device/sim/capture.h"
#include "device_test.h"
#include "operation_sweep.h"

namespace thaw::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Operation> floating_point_operations() {
  std::vector<Operation> all;
  for (const auto& table : {pointwise_operations, reducing_operations, shaping_operations,
                            indexing_operations, linear_operations}) {
    for (Operation& operation : table()) all.push_back(std::move(operation));
  }
  return all;
}

class OperationSweep : public DeviceTest {
 protected:
  /// Sweeps a table and returns how many operations were identical.
  int sweep(const std::vector<Operation>& operations, at::ScalarType type) {
    int identical = 0;
    for (const Operation& operation : operations) {
      if (at::isReducedFloatingType(type) && !operation.in_half_precision) continue;
      const std::string wrong = find_difference(device_, operation, type, &recorded_);
      EXPECT_THAT(wrong, IsEmpty()) << type << " " << operation.name;
      identical += wrong.empty();
      device_.reset();
    }
    return identical;
  }

  std::set<std::string> recorded_;
};

TEST_F(OperationSweep, at_least_130_operations_are_identical_in_fp32) {
  c10::InferenceMode inference;
  const auto operations = floating_point_operations();
  const int identical = sweep(operations, at::kFloat);
  EXPECT_GE(identical, 130);
  EXPECT_EQ(identical, static_cast<int>(operations.size()));
  EXPECT_GE(recorded_.size(), 130u) << "distinct operators in the graphs";
  RecordProperty("identical", identical);
  RecordProperty("operators", static_cast<int>(recorded_.size()));
}

TEST_F(OperationSweep, is_identical_in_fp16) {
  c10::InferenceMode inference;
  EXPECT_GE(sweep(floating_point_operations(), at::kHalf), 130);
}

TEST_F(OperationSweep, is_identical_in_bf16) {
  c10::InferenceMode inference;
  EXPECT_GE(sweep(floating_point_operations(), at::kBFloat16), 130);
}

TEST_F(OperationSweep, is_identical_without_gradients_outside_inference_mode) {
  at::NoGradGuard no_gradients;
  sweep(floating_point_operations(), at::kFloat);
}

TEST_F(OperationSweep, is_identical_in_grad_mode) {
  ASSERT_TRUE(at::GradMode::is_enabled());
  sweep(floating_point_operations(), at::kFloat);
}

TEST_F(OperationSweep, is_identical_in_int8) { sweep(integer_operations(), at::kChar); }

TEST_F(OperationSweep, is_identical_in_int64) { sweep(integer_operations(), at::kLong); }

TEST_F(OperationSweep, is_identical_in_bool) { sweep(bool_operations(), at::kBool); }

TEST_F(OperationSweep, is_identical_in_fp8) { sweep(fp8_operations(), at::kFloat8_e4m3fn); }

TEST_F(OperationSweep, operations_that_wait_for_the_device_are_refused_in_a_capture_only) {
  for (const Operation& operation : synchronising_operations()) {
    EXPECT_THAT(find_eager_difference(device_, operation, at::kFloat), IsEmpty()) << operation.name;

    Inputs inputs = make_inputs(at::kFloat, 1);
    for (at::Tensor& tensor : inputs) tensor = tensor.to(device_.torch_device());
    EXPECT_EQ(code_of([&] { capture([&] { operation.run(inputs); }); }), 900) << operation.name;
  }
}

TEST_F(OperationSweep, what_cpu_libtorch_lacks_for_fp8_is_refused_by_name) {
  for (const MissingOperation& missing : missing_fp8_operations()) {
    const Operation& operation = missing.operation;
    const std::string& named = missing.named;
    ASSERT_FALSE(cpu_has(operation, at::kFloat8_e4m3fn)) << "move it to fp8_operations: " << named;
    Inputs inputs = make_inputs(at::kFloat8_e4m3fn, 1);
    for (at::Tensor& tensor : inputs) tensor = tensor.to(device_.torch_device());
    const auto run = [&] { operation.run(inputs); };
    for (const bool in_a_capture : {false, true}) {
      try {
        in_a_capture ? void(capture(run)) : run();
        ADD_FAILURE() << named << " was not refused";
      } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), static_cast<int>(sim::Error::not_supported));
        EXPECT_THAT(error.what(), HasSubstr(named));
      }
    }
  }
}

/// The sweep must see what it is there to see.
class OperationSweepItself : public DeviceTest {
 protected:
  std::string judge(std::function<Outputs(Inputs&)> run) {
    return find_difference(device_, {"", std::move(run)}, at::kFloat);
  }
  static bool on_the_device(const Inputs& inputs) { return inputs[0].is_privateuseone(); }
};

TEST_F(OperationSweepItself, objects_to_another_result) {
  EXPECT_THAT(judge([](Inputs& in) { return Outputs{in[0] + 1}; }), IsEmpty());
  EXPECT_THAT(judge([](Inputs& in) { return Outputs{in[0] + (on_the_device(in) ? 1.00001 : 1)}; }),
              HasSubstr("eagerly, result 0"));
}

TEST_F(OperationSweepItself, objects_to_another_layout) {
  EXPECT_THAT(judge([](Inputs& in) {
                const at::Tensor product = at::ones({6, 6}, in[0].options());
                return Outputs{on_the_device(in) ? product.t() : product};
              }),
              HasSubstr("eagerly, result 0"));
}

TEST_F(OperationSweepItself, objects_to_another_argument) {
  EXPECT_THAT(judge([](Inputs& in) {
                if (on_the_device(in)) in[2].add_(1);
                return Outputs{in[0]};
              }),
              HasSubstr("eagerly, argument 2"));
}

TEST_F(OperationSweepItself, objects_to_a_host_value_that_a_replay_should_have_read_anew) {
  float host_value = 0;
  EXPECT_THAT(judge([&](Inputs& in) {
                if (!sim::stream_is_capturing()) host_value = in[2][0].item<float>();
                return Outputs{in[0] + host_value};
              }),
              HasSubstr("replay 1, result 0"));
}

TEST_F(OperationSweepItself, objects_to_a_capture_with_an_effect) {
  const c10::Stream beside = sim::new_stream();
  EXPECT_THAT(judge([&](Inputs& in) {
                std::optional<c10::StreamGuard> guard;
                if (on_the_device(in)) guard.emplace(beside);
                return Outputs{in[0].add_(1)};
              }),
              HasSubstr("after the capture, argument 0"));
}

TEST_F(OperationSweepItself, objects_to_memory_that_is_no_longer_live) {
  const c10::Stream beside = sim::new_stream();
  EXPECT_THAT(judge([&](Inputs& in) {
                at::Tensor temporary;
                {
                  std::optional<c10::StreamGuard> guard;
                  if (on_the_device(in)) guard.emplace(beside);
                  temporary = at::ones({6}, in[0].options());  // not from the graph's pool
                }
                return Outputs{in[0] + temporary};
              }),
              HasSubstr("not live"));
}

}  // namespace
}  // namespace thaw::test
