// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels_option.h"

#include <fmt/format.h>

#include <string>

#include "cli/command.h"
#include "session/case_result.h"

namespace thaw {

void add_kernels_option(CLI::App& command, Kernels& kernels) {
  command
      .add_option_function<std::string>(
          "--kernels",
          [&kernels](const std::string& name) {
            const auto chosen = parse_kernels(name);
            if (!chosen) {
              throw BadInput(
                  fmt::format("--kernels: unknown kernels '{}'; one of registered, torch", name));
            }
            kernels = *chosen;
          },
          "Operators of a step: thaw's own (default), or LibTorch's")
      ->type_name("registered|torch");
}

}  // namespace thaw
