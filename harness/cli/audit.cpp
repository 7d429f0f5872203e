// SPDX-License-Identifier: Apache-2.0
//
// thaw audit: what the capture of a step took from the host.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "audit/audit.h"
#include "case/case_text.h"
#include "cli/command.h"
#include "cli/device_option.h"
#include "cli/kernels_option.h"
#include "report/audit_text.h"

namespace thaw {
namespace {

struct AuditCommand {
  std::vector<std::string> caches;
  std::vector<std::string> settings;
  Kernels kernels = Kernels::registered;
  bool where = false;
  bool json = false;
};

/// The settings of the audited step, said in the case language's words: "layers=2".
Settings settings_of(const AuditCommand& command) {
  std::string text = "thaw case 1\nrows 2\nheads 2\n";
  for (const std::string& setting : command.settings) {
    const size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      throw BadInput(
          fmt::format("audit: --set {}: expected KEY=VALUE, as in --set layers=2; "
                      "'thaw list keys' shows the keys",
                      setting));
    }
    const std::string key = setting.substr(0, equals);
    const size_t line = text.find("\n" + key + " ");
    if (line != std::string::npos) text.erase(line + 1, text.find('\n', line + 1) - line);
    text += key + " " + setting.substr(equals + 1) + "\n";
  }
  const Settings settings = parse_case(text, "--set").settings;
  if (settings.slots < slots_of_an_audit) {
    throw BadInput(fmt::format("audit: --set slots={}: an audit needs at least {} slots a row",
                               settings.slots, slots_of_an_audit));
  }
  return settings;
}

ExitStatus worse(ExitStatus so_far, const Audit& audit) {
  if (!audit.clean()) return ExitStatus::findings;
  if (!audit.complete() && so_far == ExitStatus::clean) return ExitStatus::incomplete;
  return so_far;
}

void run_audits(const AuditCommand& command, CommandContext& context) {
  Settings settings = settings_of(command);
  for (const std::string& cache : command.caches) {
    if (context.registry.find(cache) == nullptr) {
      throw UnknownCache(context.registry.unknown(cache));
    }
  }
  Device& device = context.device();
  device.set_note_call_stacks(command.where);
  Json json = {{"format", "thaw-audit"}, {"version", json_version}, {"audits", Json::array()}};
  bool first = true;
  for (const std::string& cache : command.caches) {
    settings.cache = context.registry.find(cache)->name;
    const Audit result = audit(settings, device, context.registry, command.kernels);
    context.exit_status = worse(context.exit_status, result);
    if (command.json) {
      json["audits"].push_back(to_json(result));
    } else {
      fmt::print("{}{}", first ? "" : "\n", audit_text(result, context.style));
    }
    first = false;
  }
  if (command.json) fmt::print("{}", json_text(json));
}

}  // namespace

void add_audit_command(CLI::App& app, CommandContext& context) {
  auto audit = std::make_shared<AuditCommand>();
  CLI::App* command = app.add_subcommand("audit", "What the capture of a step took from the host");
  command->add_option("CACHE", audit->caches, "Names from 'thaw list caches'")
      ->required()
      ->type_name("");
  command->add_option("--set", audit->settings, "A setting of the case language, as layers=2")
      ->type_name("KEY=VALUE")
      ->take_all();
  command->add_flag("--where", audit->where, "Show which functions recorded what was frozen");
  command->add_flag("--json", audit->json, "As one JSON document");
  add_device_option(*command, context);
  add_kernels_option(*command, audit->kernels);
  command->footer(
      "A step of one token and one of three are captured at states that differ in one thing at a "
      "time:\nposition, prompt, live rows, generation, warm-ups, captures. What differs between "
      "the "
      "graphs is frozen.\n\n"
      "Examples:\n"
      "  thaw audit static                         device memory only\n"
      "  thaw audit counter:host_int --where       the frozen position, and who recorded it\n"
      "  thaw audit static --set layers=2 --json   two layers, for programs\n\n"
      "Exit status: 0 nothing is frozen; 1 something is; 2 bad input; 3 nothing could be compared");
  command->callback([audit, &context] { run_audits(*audit, context); });
}

}  // namespace thaw
