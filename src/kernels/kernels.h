// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace thaw {

/// How a step is computed: thaw's registered operators (few nodes, fast), or their twin in plain
/// LibTorch operations (many nodes; the slow reference). Results are equal bit for bit.
enum class Kernels { registered, torch };

}  // namespace thaw
