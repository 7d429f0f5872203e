// SPDX-License-Identifier: Apache-2.0
//
// Chooses a command, and turns whatever goes wrong into one message on standard error and an exit
// status.

#include "cli/run_program.h"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "case/case_text.h"
#include "case/suggestions.h"
#include "cli/command.h"
#include "cli/device_option.h"
#include "cli/version.h"
#include "trace/request_trace.h"

namespace {

constexpr const char* about = R"(Finds what CUDA-graph capture froze in a KV cache.)";

constexpr const char* footer = R"(Examples:
  thaw reproduce                         see the bug, beside the cache that does not have it
  thaw run corpus/seeds                  run all cases of a folder
  thaw run case.kv --cache counter       run one case with another cache
  thaw trace requests.csv                drive captured steps with real requests
  thaw audit counter:host_int            what the capture took from the host
  thaw list ops                          the words of the case language

Exit status: 0 clean, or all expectations held; 1 findings; 2 bad input; 3 incomplete: something
could not be judged; 4 thaw itself failed.)";

/// The names of everything that may stand where an argument was not understood.
std::vector<std::string> known_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands({})) names.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What is wrong with the command line, and what was probably meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string help = fmt::format("'{} --help' shows what there is",
                                       chosen.empty() ? "thaw" : "thaw " + command.get_name());
  const std::vector<std::string> left = app.remaining(true);
  if (left.empty()) {
    return fmt::format("{}; {}", chosen.empty() ? "no command was given" : error.what(), help);
  }
  const std::vector<std::string> names = known_names(command);
  const std::string_view nearest =
      thaw::nearest_word(left.front(), std::vector<std::string_view>(names.begin(), names.end()));
  const std::string meant = nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
  return fmt::format("unknown {} '{}'; {}{}", chosen.empty() ? "command" : "argument", left.front(),
                     meant, help);
}

int fail(thaw::ExitStatus status, const char* text) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", text);
  return static_cast<int>(status);
}

/// A message that could not be written was not said.
int finish(thaw::ExitStatus status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return static_cast<int>(status);
  return fail(thaw::ExitStatus::harness_failed, "thaw: standard output could not be written");
}

int run_command(const thaw::ProgramDevice& device, int argc, char** argv) {
  CLI::App app(about, std::string(device.program));
  app.footer(footer);
  app.set_version_flag(
      "--version", [&device] { return thaw::version_text(device); },
      "Versions of thaw, LibTorch and compiler");
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  thaw::CommandContext context(device, {argv, argv + argc});
  thaw::add_device_option(app, context);
  thaw::add_reproduce_command(app, context);
  thaw::add_run_command(app, context);
  thaw::add_trace_command(app, context);
  thaw::add_audit_command(app, context);
  thaw::add_list_command(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {
      app.exit(e);
      return finish(thaw::ExitStatus::clean);
    }
    return fail(thaw::ExitStatus::bad_input, fmt::format("thaw: {}", explain(app, e)).c_str());
  }
  return finish(context.exit_status);
}

}  // namespace

int thaw::run_program(const ProgramDevice& device, int argc, char** argv) {
  try {
    return run_command(device, argc, argv);
  } catch (const thaw::CaseError& e) {
    return fail(thaw::ExitStatus::bad_input, e.what());
  } catch (const thaw::TraceError& e) {
    return fail(thaw::ExitStatus::bad_input, e.what());
  } catch (const thaw::BadInput& e) {
    return fail(thaw::ExitStatus::bad_input, fmt::format("thaw: {}", e.what()).c_str());
  } catch (const thaw::UnknownCache& e) {
    return fail(thaw::ExitStatus::bad_input, fmt::format("thaw: {}", e.what()).c_str());
  } catch (const std::exception& e) {
    return fail(thaw::ExitStatus::harness_failed,
                fmt::format("thaw itself failed: {}", e.what()).c_str());
  }
}
