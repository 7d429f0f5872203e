// SPDX-License-Identifier: Apache-2.0
#include "reference/elements.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

namespace thaw {
namespace {

template <class T>
std::array<std::byte, 4> bytes_of(float number) {
  const T value = static_cast<T>(number);
  std::array<std::byte, 4> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

}  // namespace

std::array<std::byte, 4> encode_element(at::ScalarType dtype, float number) {
  switch (dtype) {
    case at::kFloat:
      return bytes_of<float>(number);
    case at::kHalf:
      return bytes_of<c10::Half>(number);
    case at::kBFloat16:
      return bytes_of<c10::BFloat16>(number);
    default:
      throw std::invalid_argument(
          fmt::format("a cache is judged in fp32, fp16 and bf16, not in {}", toString(dtype)));
  }
}

float decode_element(at::ScalarType dtype, const std::byte* element) {
  const auto as = [&](auto value) {
    std::memcpy(&value, element, sizeof(value));
    return static_cast<float>(value);
  };
  if (dtype == at::kFloat) return as(0.0F);
  return dtype == at::kHalf ? as(c10::Half{}) : as(c10::BFloat16{});
}

}  // namespace thaw
