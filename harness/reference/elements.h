// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <cstddef>

namespace thaw {

/// A number as an element of a cache: the first elementSize(dtype) bytes count. Throws
/// std::invalid_argument unless dtype is fp32, fp16 or bf16, which a case can ask for.
std::array<std::byte, 4> encode_element(at::ScalarType dtype, float number);
/// The number that an element of fp32, fp16 or bf16 holds.
float decode_element(at::ScalarType dtype, const std::byte* element);

}  // namespace thaw
