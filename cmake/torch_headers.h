// SPDX-License-Identifier: Apache-2.0
// Precompiled for every target that uses LibTorch (see ThawTargets.cmake). Narrow on purpose:
// <ATen/ATen.h> doubles the time of each file.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/StreamGuard.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
