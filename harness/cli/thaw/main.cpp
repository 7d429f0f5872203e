// SPDX-License-Identifier: Apache-2.0
//
// The program thaw: cases on the simulated device.

#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include "cli/run_program.h"
#include "device/sim/sim_device.h"

int main(int argc, char** argv) {
  return thaw::run_program({.program = "thaw",
                            .name = "sim",
                            .title = "the simulated device",
                            .libraries = fmt::format("LibTorch {}", TORCH_VERSION),
                            .fills_freed_memory = true,
                            .make = [](bool fill_freed_memory) -> std::unique_ptr<thaw::Device> {
                              return std::make_unique<thaw::SimDevice>(
                                  thaw::SimOptions{.poison_freed = fill_freed_memory});
                            }},
                           argc, argv);
}
