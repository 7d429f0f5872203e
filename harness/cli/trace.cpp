// SPDX-License-Identifier: Apache-2.0
//
// thaw trace: real requests through one captured step.

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "cli/command.h"
#include "cli/device_option.h"
#include "cli/input.h"
#include "cli/kernels_option.h"
#include "ledger/validate.h"
#include "report/terminal.h"
#include "session/session.h"
#include "session/token_tally.h"
#include "trace/request_trace.h"
#include "trace/trace_case.h"

namespace thaw {
namespace {

struct TraceCommand {
  std::string file;
  TraceOptions options;
  int64_t requests = 0;  ///< at most; 0: all
  Kernels kernels = Kernels::registered;
  bool print_case = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_requests(const std::vector<Request>& requests, const TraceCommand& command,
                    const Case& c) {
  int64_t prompt = 0, generated = 0;
  for (const Request& request : requests) {
    prompt += scaled_tokens(request.prompt, command.options.scale);
    generated += scaled_tokens(request.generated, command.options.scale);
  }
  fmt::print(
      "{}: {} requests at scale {}, {} prompt and {} generated tokens, on {} rows of {} slots\n",
      command.file, requests.size(), command.options.scale, prompt, generated, c.settings.rows,
      c.settings.slots);
}

void print_result(const Verdict& verdict, const TokenTally& tally, double seconds,
                  const Style& style) {
  fmt::print("{}: {} captures, {} replays, {} tokens, {:.0f} tokens/s\n", verdict.cache,
             verdict.captures, verdict.replays, tally.tokens(),
             static_cast<double>(tally.tokens()) / seconds);
  if (verdict.status == Verdict::Status::clean) {
    fmt::print("{}\n", style.good("clean: every token is in its slot"));
    return;
  }
  if (const auto& first = tally.first_wrong()) {
    fmt::print("{}\n", style.bad(fmt::format("{} of {} tokens went wrong ({:.2f} %)", tally.wrong(),
                                             tally.tokens(),
                                             100.0 * static_cast<double>(tally.wrong()) /
                                                 static_cast<double>(tally.tokens()))));
    fmt::print("first wrong token: number {}, row {}, position {}, at op {}, step {}\n",
               first->number, first->row, first->position, first->op, first->step);
  }
  for (const Finding& finding : verdict.findings) {
    fmt::print("\n{}", describe_finding(finding, style));
  }
}

void run_trace(const TraceCommand& command, CommandContext& context) {
  const std::string text = read_input(command.file);
  std::vector<Request> requests = read_azure_trace(text, command.file);
  if (command.requests > 0 && static_cast<size_t>(command.requests) < requests.size()) {
    requests.resize(static_cast<size_t>(command.requests));
  }
  const Case c = trace_case(requests, command.options, command.file);
  validate_case(c, command.file);
  if (command.print_case) {
    fmt::print("{}", print_case(c));
    return;
  }
  print_requests(requests, command, c);
  TokenTally tally;
  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = run_case(c, context.device(), context.registry,
                                   {.kernels = command.kernels, .observers = {&tally}});
  print_result(verdict, tally, seconds_since(start), context.style);
  context.exit_status = exit_status_of(verdict);
}

}  // namespace

void add_trace_command(CLI::App& app, CommandContext& context) {
  auto trace = std::make_shared<TraceCommand>();
  trace->options.scale = 16;
  CLI::App* command =
      app.add_subcommand("trace", "Drives one captured step with the requests of a real trace");
  command->add_option("FILE", trace->file, "A CSV file of the Azure LLM inference dataset")
      ->required();
  command->add_option("--cache", trace->options.cache, "The cache to test")->capture_default_str();
  command
      ->add_option("--scale", trace->options.scale,
                   "Divides all lengths; what is left over counts as one more token")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str();
  command->add_option("--rows", trace->options.rows, "Requests served at a time")
      ->check(CLI::Range(int64_t{1}, int64_t{16}))
      ->capture_default_str();
  command
      ->add_option("--slots", trace->options.slots,
                   "Slots of a row; without it what the longest request needs")
      ->check(CLI::Range(int64_t{1}, int64_t{4096}));
  command->add_option("--requests", trace->requests, "Stops after this many; 0: all")
      ->check(CLI::Range(int64_t{0}, int64_t{100'000'000}))
      ->capture_default_str();
  add_device_option(*command, context);
  add_kernels_option(*command, trace->kernels);
  command->add_flag("--print-case", trace->print_case,
                    "Prints the case that the trace becomes, and runs nothing");
  command->footer(
      "Examples:\n"
      "  thaw trace requests.csv --requests 500\n"
      "  thaw trace requests.csv --requests 500 --cache counter:device_in_place\n\n"
      "A request takes a free row: a prefill, then one captured step a token for all live rows\n"
      "together, then a reset. After the first prefills there are three throw-away warm-ups and "
      "one\n"
      "capture, which serves the whole trace.\n\n"
      "Exit status: 0 clean, 1 findings, 2 bad input, 3 incomplete.");
  command->callback([trace, &context] { run_trace(*trace, context); });
}

}  // namespace thaw
