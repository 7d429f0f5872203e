// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace thaw {

/// Adds --device. If it names the other program's device, that program runs in place of this one
/// with the same arguments, and this does not return; if there is none, BadInput says what to do.
void add_device_option(CLI::App& command, const CommandContext& context);

}  // namespace thaw
