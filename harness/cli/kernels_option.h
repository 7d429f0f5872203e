// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "kernels/kernels.h"

namespace thaw {

/// Adds `--kernels registered|torch` to a command that runs steps.
void add_kernels_option(CLI::App& command, Kernels& kernels);

}  // namespace thaw
