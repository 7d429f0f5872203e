// SPDX-License-Identifier: Apache-2.0
//
// thaw run: runs cases, judges what they expect, and reports; or serves them as a worker.

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "case/op_table.h"
#include "case/text_lines.h"
#include "cli/command.h"
#include "cli/device_option.h"
#include "cli/dump_files.h"
#include "cli/input.h"
#include "cli/kernels_option.h"
#include "cli/run_reporter.h"
#include "cli/version.h"
#include "ledger/validate.h"
#include "session/case_result.h"
#include "session/worker.h"

namespace thaw {
namespace {

struct RunCommand {
  std::vector<std::string> paths;
  RunOptions options;
  RunReportOptions report;
  bool jsonl = false;
  bool leave_freed_memory = false;
  std::string dump_folder;  ///< of graphs; empty: none
};

/// Where the cache is named in a text that parses.
SourcePosition position_of_cache(std::string_view text, std::string_view file) {
  TextLines lines(text, file);
  while (lines.next()) {
    const auto words = lines.words();
    if (words.size() == 2 && words[0].text == "cache") return {lines.number(), words[1].column};
  }
  return {};
}

SourcePosition position_of(const Line<Expect>& expect) {
  SourcePosition position = expect.position;
  if (expect.columns.size() > 1) position.column = expect.columns[1];
  return position;
}

/// What can be done to a row may depend on how a cache lays it out (R9).
void validate_for(const Case& c, std::string_view file, const Registry& registry,
                  std::string_view cache) {
  const Registry::Entry* entry = registry.find(cache);
  if (entry == nullptr || entry->layout == Layout::linear) return;
  validate_case(c, file, entry->layout);
}

/// A case that can be run: preconditions hold on all caches that it runs on, and unless `cache`
/// replaces them, the caches that it names are registered. Throws CaseError.
Case read_case(std::string_view text, std::string_view file, const Registry& registry,
               const std::string& cache) {
  Case c = parse_case(text, file);
  validate_case(c, file);
  validate_for(c, file, registry, cache.empty() ? c.settings.cache : cache);
  if (!cache.empty()) return c;
  if (const auto unknown = find_unknown_cache(c, registry)) {
    throw CaseError(
        file,
        unknown->expect == nullptr ? position_of_cache(text, file) : position_of(*unknown->expect),
        unknown->message);
  }
  for (const auto& line : c.expects) validate_for(c, file, registry, line.value.cache);
  return c;
}

/// Runs the cases one after the other; what is wrong with one of them does not keep the others from
/// running.
class CaseRunner {
 public:
  CaseRunner(const RunCommand& command, CommandContext& context, RunReporter& reporter)
      : command_(command), context_(context), reporter_(reporter) {}

  void run(const std::string& file) {
    try {
      const Case c = read_case(read_input(file, text_bytes_max), shown_name(file),
                               context_.registry, command_.options.cache);
      Device& device = context_.device(!command_.leave_freed_memory);
      RunOptions options = command_.options;
      GraphDumps dumps;
      if (!command_.dump_folder.empty()) options.observers.push_back(&dumps);
      const CaseResult result = run_with_expects(c, device, context_.registry, options);
      if (!command_.dump_folder.empty()) {
        write_graph_dumps(command_.dump_folder, file, result, dumps);
      }
      reporter_.done(file, c, result);
      tally_.count(result.outcome);
    } catch (const CaseError& e) {
      bad_input(file, e.what());
    } catch (const BadInput& e) {
      bad_input(file, e.what());
    } catch (const std::exception& e) {
      context_.discard_device();
      ++tally_.harness_failed;
      reporter_.failed(file, ExitStatus::harness_failed,
                       fmt::format("{}: thaw itself failed: {}", shown_name(file), e.what()));
    }
  }

  void bad_input(const std::string& file, const std::string& message) {
    ++tally_.bad_input;
    reporter_.failed(file, ExitStatus::bad_input, message);
  }

  const RunTally& tally() const { return tally_; }

 private:
  const RunCommand& command_;
  CommandContext& context_;
  RunReporter& reporter_;
  RunTally tally_;
};

/// A path of the command line, as the case files that it means, or what is wrong with it.
struct Found {
  std::string path;
  std::string error;
};

std::vector<Found> find_cases(const std::vector<std::string>& paths) {
  std::vector<Found> found;
  for (const std::string& path : paths) {
    try {
      for (std::string& file : case_files(path)) found.push_back({std::move(file), ""});
    } catch (const BadInput& e) {
      found.push_back({path, e.what()});
    }
  }
  return found;
}

void run_cases(RunCommand& command, CommandContext& context) {
  const std::vector<Found> cases = find_cases(command.paths);
  command.report.cases = cases.size();
  command.report.investigate = [&](const Case& c, const Verdict& verdict) {
    return investigate(c, verdict, context.device(!command.leave_freed_memory), context.registry,
                       command.options);
  };
  const auto reporter = make_run_reporter(command.report, context.style);
  CaseRunner runner(command, context, *reporter);
  for (const Found& found : cases) {
    if (found.error.empty()) {
      runner.run(found.path);
    } else {
      runner.bad_input(found.path, found.error);
    }
  }
  reporter->finish(runner.tally());
  context.exit_status = runner.tally().exit_status();
}

WorkerError bad_case(const std::exception& e) {
  return {"bad_case", e.what(),
          "correct the case where the message points; 'thaw run FILE' says the same of a file"};
}

void work(const RunCommand& command, CommandContext& context) {
  const auto answer = [&](const WorkerRequest& request) {
    RunOptions options = command.options;
    RunConditions conditions = command.report.conditions;
    if (!request.cache.empty()) options.cache = request.cache;
    if (request.kernels) options.kernels = conditions.kernels = *request.kernels;
    try {
      const Case c = read_case(request.case_text, "case", context.registry, options.cache);
      Device& device = context.device(!command.leave_freed_memory);
      return to_json(c, run_with_expects(c, device, context.registry, options), conditions);
    } catch (const CaseError& e) {
      throw bad_case(e);
    } catch (const UnknownCache& e) {
      throw bad_case(e);
    } catch (const std::exception& e) {
      context.discard_device();
      throw WorkerError("harness_failed", e.what(),
                        "this is a fault of thaw's own: report it, with the case");
    }
  };
  std::ios::sync_with_stdio(false);
  if (!serve_requests(std::cin, std::cout, answer)) {
    throw std::runtime_error("standard output could not be written");
  }
}

void check_options(const RunCommand& command, const Registry& registry) {
  const std::string& cache = command.options.cache;
  if (!cache.empty() && registry.find(cache) == nullptr) {
    throw BadInput("--cache: " + registry.unknown(cache));
  }
  if (command.jsonl && command.paths != std::vector<std::string>{standard_input}) {
    throw BadInput("--jsonl: requests come from standard input; write 'thaw run - --jsonl'");
  }
}

void run(RunCommand& command, CommandContext& context) {
  check_options(command, context.registry);
  // A device that is not there is told once, not once a case.
  context.device(!command.leave_freed_memory);
  command.report.program = version_text(context.program);
  RunConditions& conditions = command.report.conditions;
  conditions.kernels = command.options.kernels;
  conditions.freed_memory_filled =
      !command.leave_freed_memory && context.program.fills_freed_memory;
  if (conditions.kernels != Kernels::registered) {
    command.report.flags += fmt::format(" --kernels {}", to_string(conditions.kernels));
  }
  if (command.leave_freed_memory) command.report.flags += " --leave-freed-memory";
  if (context.program.name != "sim") {
    command.report.flags += fmt::format(" --device {}", context.program.name);
  }
  if (command.jsonl) {
    work(command, context);
  } else {
    run_cases(command, context);
  }
}

constexpr const char* footer =
    R"(Without --cache a case runs on its own cache and on every cache that its expects name.
It is as expected if all its expects hold; a case without expects, if it is clean. With --cache
the expects that speak of that cache decide; if there are none, its findings do.

Examples:
  thaw run case.kv                         one case, with a report of what was not expected
  thaw run corpus/zoo corpus/seeds         all *.kv of two folders, below them as well
  thaw run case.kv --cache static          the same ops on another cache
  thaw run case.kv --explain               the full report, also of findings that were expected
  thaw run case.kv --gtest > my_test.cpp   the same as a test
  printf 'thaw case 1\nprefill 0 5\n' | thaw run - --json
  thaw run - --jsonl < requests            a worker: a request a line, a verdict a line

Exit status: 0 all as expected, 1 not so, 2 bad input, 3 something could not be judged,
4 thaw itself failed. Of several cases, the first that applies of 4, 2, 1, 3, 0.)";

}  // namespace

void add_run_command(CLI::App& app, CommandContext& context) {
  auto run_command = std::make_shared<RunCommand>();
  CLI::App* command = app.add_subcommand("run", "Runs cases and judges what they expect");
  command
      ->add_option("CASE", run_command->paths,
                   "Case files, folders (all *.kv in them), or -: standard input")
      ->required()
      ->type_name("");
  command
      ->add_option("--cache", run_command->options.cache,
                   "Run this cache alone ('thaw list caches')")
      ->type_name("NAME");
  add_device_option(*command, context);
  add_kernels_option(*command, run_command->options.kernels);
  command->add_flag("--gtest", run_command->report.test_alone,
                    "Of each run with findings only a GoogleTest to paste");
  command->add_flag("--leave-freed-memory", run_command->leave_freed_memory,
                    "Freed memory keeps its contents, as on cuda (else it is filled)");
  command->add_flag("-v,--verbose", run_command->report.every_case,
                    "A line also for cases that are as expected");
  command->add_flag("--explain", run_command->report.explain,
                    "A full report also of findings that were expected");
  CLI::Option* dump_graphs =
      command
          ->add_option("--dump-graphs", run_command->dump_folder,
                       "Write every captured graph there, as text and for Graphviz")
          ->type_name("FOLDER");
  CLI::Option* json =
      command->add_flag("--json", run_command->report.json, "One JSON document at the end");
  command
      ->add_flag("--jsonl", run_command->jsonl,
                 "Worker: requests in, verdicts out (docs/worker-protocol.md)")
      ->excludes(json)
      ->excludes(dump_graphs);
  command->add_flag("--timings", run_command->report.conditions.timings,
                    "Add wall times, which differ from run to run");
  command->footer(footer);
  command->callback([run_command, &context] { run(*run_command, context); });
}

}  // namespace thaw
