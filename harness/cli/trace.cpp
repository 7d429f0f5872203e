// SPDX-License-Identifier: Apache-2.0
//
// thaw trace: real requests through one captured step.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "case/case_text.h"
#include "case/op_table.h"
#include "cli/command.h"
#include "cli/device_option.h"
#include "cli/input.h"
#include "cli/kernels_option.h"
#include "cli/trace_progress.h"
#include "ledger/validate.h"
#include "report/failure_report.h"
#include "report/terminal.h"
#include "report/wrap.h"
#include "session/session.h"
#include "session/token_tally.h"
#include "trace/prefix_sharing.h"
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

struct Tokens {
  int64_t prompt = 0, generated = 0;
};

Tokens scaled(std::span<const Request> requests, int64_t scale) {
  Tokens tokens;
  for (const Request& request : requests) {
    tokens.prompt += scaled_tokens(request.prompt, scale);
    tokens.generated += scaled_tokens(request.generated, scale);
  }
  return tokens;
}

double percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string sharing_sentence(std::span<const Request> requests) {
  const PrefixSharing sharing = prefix_sharing(requests);
  return fmt::format(
      "prefixes: {} of {} blocks were seen before ({:.1f} %), {} of them in the shared prefixes of "
      "{} requests; every prompt is prefilled in full all the same\n",
      sharing.seen_before, sharing.blocks, percent(sharing.seen_before, sharing.blocks),
      sharing.in_prefixes, sharing.requests);
}

void print_requests(const std::string& file, const RequestTrace& trace, const Case& c,
                    int64_t scale, const Style& style) {
  const Tokens tokens = scaled(trace.requests, scale);
  fmt::print(
      "{}: {} requests of {} trace; at scale {}, {} prompt and {} generated tokens, on {} "
      "rows of {} slots\n",
      file, trace.requests.size(),
      trace.format == TraceFormat::azure ? "an Azure LLM inference" : "a Mooncake", scale,
      tokens.prompt, tokens.generated, c.settings.rows, c.settings.slots);
  if (trace.format == TraceFormat::mooncake) {
    fmt::print("{}", wrap(sharing_sentence(trace.requests), "", style.width));
  }
  std::fflush(stdout);
}

/// The most memory that this process had at a time, in MiB.
int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

/// One run of a trace, and what became of its tokens.
struct TraceRun {
  const Case& c;
  std::span<const Request> requests;
  Verdict verdict;
  TokenTally tally;
  double seconds = 0;
};

std::string findings_line(const Verdict& verdict, const Style& style) {
  switch (verdict.status) {
    case Verdict::Status::clean:
      return style.good("none: every token is in its slot");
    case Verdict::Status::incomplete:
      return style.doubtful(fmt::format("unknown: {}", verdict.incomplete_because));
    case Verdict::Status::findings:
      break;
  }
  return style.bad(summary(verdict));
}

/// How many tokens went wrong and which was the first; nothing if none did.
std::string wrong_lines(const TraceRun& run, const Style& style) {
  const TokenTally& tally = run.tally;
  const auto& first = tally.first_wrong();
  if (!first) return "";
  const size_t request = request_at(run.c, first->op, first->row);
  return style.bad(fmt::format("  wrong     {} of {} tokens ({:.2f} %); of the {} replayed ones "
                               "{:.2f} %\n",
                               tally.wrong(), tally.tokens(),
                               percent(tally.wrong(), tally.tokens()), tally.replayed(),
                               percent(tally.replayed_wrong(), tally.replayed()))) +
         fmt::format(
             "  first     token {}: position {} of request {} (line {}), in row {}, at op "
             "{}, step {}\n",
             first->number, first->position, request + 1, run.requests[request].line, first->row,
             first->op, first->step);
}

void print_result(const TraceRun& run, const Style& style) {
  const Verdict& verdict = run.verdict;
  const TokenTally& tally = run.tally;
  fmt::print(
      "\n{} on {}, with the {} decoder\n"
      "  requests  {}\n"
      "  tokens    {} ({} prefilled, {} replayed)\n"
      "  captures  {}\n"
      "  replays   {}\n"
      "  speed     {:.0f} tokens/s, in {:.1f} s\n"
      "  memory    {} MiB at its peak\n"
      "  findings  {}\n",
      style.bold(verdict.cache), verdict.device, key_value(*find_key("decoder"), run.c.settings),
      run.requests.size(), tally.tokens(), tally.tokens() - tally.replayed(), tally.replayed(),
      verdict.captures, verdict.replays,
      run.seconds > 0 ? static_cast<double>(tally.tokens()) / run.seconds : 0.0, run.seconds,
      peak_memory(), findings_line(verdict, style));
  fmt::print("{}", wrong_lines(run, style));
  for (const Finding& finding : verdict.findings) {
    fmt::print("\n{}", describe_finding(finding, style));
  }
  fmt::print("\n{}", coverage(verdict, style));
  if (!verdict.comparison.empty()) fmt::print("{}", wrap(verdict.comparison, "  ", style.width));
}

/// Reads and checks everything before the device is touched.
RequestTrace read_requests(const TraceCommand& command) {
  RequestTrace trace =
      read_trace(read_input(command.file, trace_bytes_max), shown_name(command.file));
  if (command.requests > 0 && static_cast<size_t>(command.requests) < trace.requests.size()) {
    trace.requests.resize(static_cast<size_t>(command.requests));
  }
  return trace;
}

void run_trace(const TraceCommand& command, CommandContext& context) {
  if (context.registry.find(command.options.cache) == nullptr) {
    throw UnknownCache(context.registry.unknown(command.options.cache));
  }
  const std::string file = shown_name(command.file);
  const RequestTrace trace = read_requests(command);
  const Case c = trace_case(trace.requests, command.options, file);
  validate_case(c, file);
  if (command.print_case) {
    fmt::print("{}", print_case(c));
    return;
  }
  print_requests(file, trace, c, command.options.scale, context.style);
  TraceRun run{.c = c, .requests = trace.requests, .verdict = {}, .tally = {}};
  TraceProgress progress(trace.requests.size(), stderr);
  const auto start = std::chrono::steady_clock::now();
  run.verdict =
      run_case(c, context.device(), context.registry,
               {.cache = {}, .kernels = command.kernels, .observers = {&run.tally, &progress}});
  run.seconds = seconds_since(start);
  progress.finish();
  print_result(run, context.style);
  context.exit_status = exit_status_of(run.verdict);
}

/// `--decoder`, with the names that the key has in the case language.
void add_decoder_option(CLI::App& command, DecoderKind& decoder) {
  command
      .add_option_function<std::string>(
          "--decoder",
          [&decoder](const std::string& name) {
            const KeyRow& key = *find_key("decoder");
            const auto choice = std::find(key.choices.begin(), key.choices.end(), name);
            if (choice == key.choices.end()) {
              throw BadInput(
                  fmt::format("--decoder: unknown decoder '{}'; one of {}", name, key_values(key)));
            }
            decoder = static_cast<DecoderKind>(choice - key.choices.begin());
          },
          "What the captured step computes, as in 'thaw list keys'")
      ->type_name("NAME");
}

}  // namespace

void add_trace_command(CLI::App& app, CommandContext& context) {
  auto trace = std::make_shared<TraceCommand>();
  trace->options.scale = 16;
  CLI::App* command =
      app.add_subcommand("trace", "Drives one captured step with the requests of a real trace");
  command
      ->add_option("FILE", trace->file,
                   "An Azure CSV or the JSON lines of Mooncake; - for standard input")
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
      ->check(CLI::Range(int64_t{2}, trace_slots_max));
  command->add_option("--requests", trace->requests, "Stops after this many; 0: all")
      ->check(CLI::Range(int64_t{0}, int64_t{100'000'000}))
      ->capture_default_str();
  add_decoder_option(*command, trace->options.decoder);
  add_device_option(*command, context);
  add_kernels_option(*command, trace->kernels);
  command->add_flag("--print-case", trace->print_case,
                    "Prints the case that the trace becomes, and runs nothing");
  command->footer(
      "Examples:\n"
      "  thaw trace requests.csv --requests 500\n"
      "  thaw trace requests.csv --requests 500 --cache counter:device_in_place\n"
      "  thaw trace requests.jsonl --scale 64\n\n"
      "A request takes a free row: a prefill, then one captured step a token for all live rows\n"
      "together, then a reset. After the first prefills there are three throw-away warm-ups and "
      "one\n"
      "capture, which serves the whole trace.\n\n"
      "Exit status: 0 clean, 1 findings, 2 bad input, 3 incomplete.");
  command->callback([trace, &context] { run_trace(*trace, context); });
}

}  // namespace thaw
