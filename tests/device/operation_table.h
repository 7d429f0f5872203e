// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace thaw::test {

/// What every operation of the sweep works on, in this order:
///   a, b [6, 6]   w [6]   c [3, 6]                 of the swept dtype
///   i [3] int64, distinct, in [0, 6)               m [6, 6] bool
///   q [1, 4, 1, 8]   k, v [1, 2, 16, 8]            of the swept dtype: a query, and a cache
///   visible [1, 1, 1, 16] bool   position [1] int64 in [0, 16)   frequencies [4] fp32
using Inputs = std::array<at::Tensor, 12>;
using Outputs = std::vector<at::Tensor>;

/// One line of a table: an expression in the inputs, and its own text as its name.
struct Operation {
  std::string name;
  std::function<Outputs(Inputs&)> run;
  /// Half precision is swept as well, if CPU LibTorch has the operation for it.
  bool in_half_precision = true;
};

/// Operations on floating point tensors: fp32, and mostly fp16 and bf16.
std::vector<Operation> pointwise_operations();
std::vector<Operation> reducing_operations();
std::vector<Operation> shaping_operations();
std::vector<Operation> indexing_operations();
std::vector<Operation> linear_operations();

/// Operations on the other dtypes.
std::vector<Operation> integer_operations();  ///< int8 and int64
std::vector<Operation> bool_operations();
std::vector<Operation> fp8_operations();  ///< e4m3: what CPU LibTorch has

/// Operations whose result, or whose result's shape, must come back to the host: fp32 tensors.
std::vector<Operation> synchronising_operations();

/// An operation that CPU LibTorch does not have for some dtype.
struct MissingOperation {
  std::string named;  ///< what the refusal must name
  Operation operation;
};
std::vector<MissingOperation> missing_fp8_operations();

inline void append(Outputs& outputs, const at::Tensor& tensor) { outputs.push_back(tensor); }
inline void append(Outputs& outputs, const std::vector<at::Tensor>& tensors) {
  outputs.insert(outputs.end(), tensors.begin(), tensors.end());
}
template <class... Tensors>
void append(Outputs& outputs, const std::tuple<Tensors...>& tensors) {
  std::apply([&](const auto&... each) { (append(outputs, each), ...); }, tensors);
}

/// All tensors of some results: tensors, tuples and lists of tensors.
template <class... Results>
Outputs collect(const Results&... results) {
  Outputs outputs;
  (append(outputs, results), ...);
  return outputs;
}

}  // namespace thaw::test

// The tables are one line an operation; these macros are what makes that readable. They bind the
// names of the inputs and turn the expression into its own name.
#define THAW_OPERATION(in_half_precision, ...)                                                \
  ::thaw::test::Operation {                                                                   \
#__VA_ARGS__,                                                                               \
        [](::thaw::test::Inputs& inputs) -> ::thaw::test::Outputs {                             \
          [[maybe_unused]] auto &a = inputs[0], &b = inputs[1], &w = inputs[2], &c = inputs[3], \
                                &i = inputs[4], &m = inputs[5], &q = inputs[6], &k = inputs[7], \
                                &v = inputs[8], &visible = inputs[9], &position = inputs[10],   \
                                &frequencies = inputs[11];                                      \
          return ::thaw::test::collect(__VA_ARGS__);                                            \
        },                                                                                      \
        in_half_precision \
  }
#define OP(...) THAW_OPERATION(true, __VA_ARGS__)
#define OP_FP32(...) THAW_OPERATION(false, __VA_ARGS__)
