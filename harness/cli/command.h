// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/bad_input.h"
#include "cli/run_program.h"
#include "report/style.h"
#include "session/verdict.h"
#include "subject/registry.h"
#include "zoo/zoo.h"

namespace thaw {

/// What the program tells its caller. See `thaw --help`.
enum class ExitStatus : int {
  clean = 0,           ///< no findings, or every expectation held
  findings = 1,        ///< findings, or an expectation that did not hold
  bad_input = 2,       ///< a case, a name or a flag is wrong; nothing is known about the subject
  incomplete = 3,      ///< something could not be judged
  harness_failed = 4,  ///< a fault of thaw's own
};

ExitStatus exit_status_of(const Verdict& verdict);

/// What the commands share.
class CommandContext {
 public:
  CommandContext(const ProgramDevice& of_program, std::vector<std::string> command_line)
      : program(of_program), arguments(std::move(command_line)) {}

  const ProgramDevice& program;
  std::vector<std::string> arguments;  ///< the whole command line, the program's name first
  Registry registry = full_registry();
  Style style = Style::of_standard_output();
  /// Set by the command that was chosen.
  ExitStatus exit_status = ExitStatus::clean;

  /// The program's device, made at first use, so that nobody waits for it who only wants help, and
  /// made anew when the option changes. Throws BadInput if this machine has none. Freed memory is
  /// filled only where the device can (ProgramDevice::fills_freed_memory).
  Device& device(bool fill_freed_memory = true);
  /// After a fault of the harness nothing is known about the device; the next use makes a new one.
  void discard_device() { device_.reset(); }

 private:
  std::unique_ptr<Device> device_;
  bool fill_freed_memory_ = true;
};

// The commands, one file each. Each adds a subcommand whose callback does the work, prints to
// standard output and sets the exit status. A callback throws BadInput, CaseError or UnknownCache
// for bad input; everything else that it throws is a fault of thaw's own.
void add_audit_command(CLI::App& app, CommandContext& context);
void add_list_command(CLI::App& app, CommandContext& context);
void add_reproduce_command(CLI::App& app, CommandContext& context);
void add_run_command(CLI::App& app, CommandContext& context);
void add_trace_command(CLI::App& app, CommandContext& context);

}  // namespace thaw
