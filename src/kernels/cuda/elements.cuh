// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstddef>
#include <cstdint>

#include "kernels/arguments.h"

/// Elements of any dtype as float.
namespace thaw::kernels::cuda {

__device__ inline float load(const std::byte* entry, Element element, int64_t index) {
  switch (element) {
    case Element::fp32:
      return reinterpret_cast<const float*>(entry)[index];
    case Element::fp16:
      return __half2float(reinterpret_cast<const __half*>(entry)[index]);
    case Element::bf16:
      return __bfloat162float(reinterpret_cast<const __nv_bfloat16*>(entry)[index]);
    case Element::fp8_e4m3:
      return static_cast<float>(reinterpret_cast<const __nv_fp8_e4m3*>(entry)[index]);
  }
  return 0;
}

__device__ inline void store(std::byte* entry, Element element, int64_t index, float number) {
  switch (element) {
    case Element::fp32:
      reinterpret_cast<float*>(entry)[index] = number;
      break;
    case Element::fp16:
      reinterpret_cast<__half*>(entry)[index] = __float2half(number);
      break;
    case Element::bf16:
      reinterpret_cast<__nv_bfloat16*>(entry)[index] = __float2bfloat16(number);
      break;
    case Element::fp8_e4m3:
      reinterpret_cast<__nv_fp8_e4m3*>(entry)[index] = __nv_fp8_e4m3(number);
      break;
  }
}

}  // namespace thaw::kernels::cuda
