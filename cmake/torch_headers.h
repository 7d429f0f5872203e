// SPDX-License-Identifier: Apache-2.0
// Precompiled for every target that uses LibTorch (see ThawTargets.cmake). Narrow on purpose:
// each header here costs every file a little, and <ATen/ATen.h> doubles the time of each.
#pragma once
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
