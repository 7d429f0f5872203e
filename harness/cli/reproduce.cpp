// SPDX-License-Identifier: Apache-2.0
//
// thaw reproduce: the frozen counter, seen.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/device_option.h"
#include "cli/kernels_option.h"
#include "report/reproduction_text.h"
#include "report/wrap.h"
#include "session/reproduction.h"

namespace thaw {
namespace {

struct ReproduceOptions {
  std::string mode = "host_int";
  Kernels kernels = Kernels::registered;
};

constexpr const char* steps_of_the_case =
    "  prefill 0 5    a prompt of five tokens goes into slots 0 to 4\n"
    "  warmup x3      three throw-away passes, as serving stacks make them before a capture\n"
    "  capture g      the one-token decode step is recorded as a graph\n"
    "  replay g x4    four tokens; before each, the caller refills the write position: 5, 6, 7, "
    "8\n";

constexpr const char* next =
    "  thaw reproduce --mode all    every way of counting in the cache, and what becomes of it\n"
    "  thaw run corpus/zoo -v       the same as cases, judged by all oracles\n"
    "  thaw list caches             what can be tested here\n";

Reproduction run(const Demonstration& demonstration, CommandContext& context,
                 const ReproduceOptions& options) {
  Device& device = context.device(demonstration.freed_memory != FreedMemory::left_alone);
  return reproduce(demonstration, device, context.registry, options.kernels);
}

bool can_be_shown(const Demonstration& demonstration, const ProgramDevice& device) {
  return device.fills_freed_memory || demonstration.freed_memory != FreedMemory::filled_with_ones;
}

/// The demonstrations of a mode; the first is the plain one.
std::vector<const Demonstration*> of_mode(const std::string& mode) {
  std::vector<const Demonstration*> found;
  for (const Demonstration& demonstration : demonstrations()) {
    if (demonstration.cache == "counter:" + mode) found.push_back(&demonstration);
  }
  if (found.empty()) {
    std::vector<std::string> modes;
    for (const Demonstration& demonstration : demonstrations()) {
      const auto name = std::string(demonstration.cache.substr(demonstration.cache.find(':') + 1));
      if (demonstration.behaviour != "right" && (modes.empty() || modes.back() != name)) {
        modes.push_back(name);
      }
    }
    throw BadInput(
        fmt::format("unknown mode '{}'; one of {}, or all", mode, fmt::join(modes, ", ")));
  }
  return found;
}

std::string judgement(bool as_it_must, const Style& style) {
  return as_it_must ? style.good("Every cache behaved as it must, the wrong ones wrongly.")
                    : style.bad(
                          "A cache did not behave as it must; see the table: this build of "
                          "thaw cannot be trusted.");
}

void show_one(CommandContext& context, const ReproduceOptions& options) {
  const auto modes = of_mode(options.mode);
  const Reproduction right = run(demonstrations().front(), context, options);
  const Reproduction wrong = run(*modes.front(), context, options);
  const bool as_it_must = right.as_it_must() && wrong.as_it_must();
  fmt::print("{}\n\n{}\n{}",
             context.style.bold(
                 fmt::format("A KV cache under CUDA-graph capture, on {}", context.program.title)),
             steps_of_the_case, reproduction_picture(right, wrong, context.style));
  if (!wrong.of->scenario.empty()) {
    fmt::print("\nThe cache on the right is shown with {}.\n", wrong.of->scenario);
  }
  if (!as_it_must) {
    const std::vector<Reproduction> rows{right, wrong};
    fmt::print("\n{}", reproduction_table(rows, context.style));
  }
  fmt::print("\n{}\n{}\n{}\n", context.style.bold("Next"), next,
             judgement(as_it_must, context.style));
  context.exit_status = as_it_must ? ExitStatus::clean : ExitStatus::findings;
}

void show_all(CommandContext& context, const ReproduceOptions& options) {
  std::vector<Reproduction> rows;
  bool as_it_must = true;
  int not_shown = 0;
  for (const Demonstration& demonstration : demonstrations()) {
    if (!can_be_shown(demonstration, context.program)) {
      ++not_shown;
      continue;
    }
    rows.push_back(run(demonstration, context, options));
    as_it_must = as_it_must && rows.back().as_it_must();
  }
  fmt::print("{}\n\n{}\n{}\n",
             context.style.bold(
                 fmt::format("Every way to keep a write position, under CUDA-graph capture, on {}",
                             context.program.title)),
             steps_of_the_case, reproduction_table(rows, context.style));
  for (const Reproduction& row : rows) {
    fmt::print("{}\n{}\n", context.style.bold(reproduction_title(*row.of)),
               wrap(row.of->why, "  ", context.style.width));
  }
  if (not_shown > 0) {
    fmt::print("Not shown: {} that needs freed memory to be filled, which {} does not do.\n\n",
               not_shown, context.program.title);
  }
  fmt::print("{}\n", judgement(as_it_must, context.style));
  context.exit_status = as_it_must ? ExitStatus::clean : ExitStatus::findings;
}

}  // namespace

void add_reproduce_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ReproduceOptions>();
  CLI::App* command = app.add_subcommand(
      "reproduce", "Shows the stale-counter bug, beside the cache that does not have it");
  command
      ->add_option("--mode", options->mode,
                   "How the wrong cache counts, as in 'thaw list caches'; or all")
      ->capture_default_str();
  add_device_option(*command, context);
  add_kernels_option(*command, options->kernels);
  command->footer(
      "Examples:\n"
      "  thaw reproduce                          a counter in a C++ integer\n"
      "  thaw reproduce --mode device_in_place   the counter that drifts instead of freezing\n"
      "  thaw reproduce --mode all               all of them, as a table\n\n"
      "Exit status: 0 when every cache behaved as it must (the wrong ones wrongly), else 1.");
  command->callback([options, &context] {
    if (options->mode == "all") {
      show_all(context, *options);
    } else {
      show_one(context, *options);
    }
  });
}

}  // namespace thaw
