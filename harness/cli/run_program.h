// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "device/device.h"

namespace thaw {

/// What differs between the programs that are made of the same commands: the device that their
/// cases run on. There are two, since a process can hold only one of the devices (a simulated one
/// takes all pinned memory for itself).
struct ProgramDevice {
  std::string_view program;  ///< "thaw", "thaw-cuda"
  std::string_view name;     ///< what --device calls it: "sim", "cuda"
  std::string_view title;    ///< for headings: "the simulated device"
  std::string libraries;     ///< for --version: "LibTorch 2.11.0"
  /// Whether freed memory can be filled with 0xFF bytes; else it keeps its contents.
  bool fills_freed_memory = false;
  /// Throws BadInput, with a remedy, if this machine has no such device.
  std::unique_ptr<Device> (*make)(bool fill_freed_memory) = nullptr;
};

/// Chooses a command, runs it, and turns whatever goes wrong into one message on standard error.
/// Returns the exit status.
int run_program(const ProgramDevice& device, int argc, char** argv);

}  // namespace thaw
