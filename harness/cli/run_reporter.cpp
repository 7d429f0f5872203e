// SPDX-License-Identifier: Apache-2.0
#include "cli/run_reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/input.h"
#include "report/failure_report.h"
#include "report/terminal.h"

namespace thaw {
namespace {

void print_error(const std::string& message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", message);
}

/// A word as a shell takes it unchanged.
std::string shell_word(const std::string& word) {
  constexpr const char* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:+,=@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string repeat_command(const std::string& file, const Verdict& verdict,
                           const RunReportOptions& options) {
  return fmt::format("thaw run {} --cache {}{}{}", shell_word(file), verdict.cache, options.flags,
                     file == standard_input ? " < CASE" : "");
}

/// Whether the failure of a case is this run's: an expectation about it did not hold, or there are
/// no expectations.
bool is_to_blame(const CaseResult& result, size_t run) {
  if (result.expects.empty()) return true;
  return std::any_of(result.expects.begin(), result.expects.end(), [&](const auto& expect) {
    return expect.run == run && expect.held == Held::no;
  });
}

/// Whether a report on this run is wanted: its findings were not expected, or all are explained.
bool is_reported(const CaseResult& result, size_t run, bool explain) {
  const bool failed = result.outcome == CaseResult::Outcome::failed;
  return !result.runs[run].verdict.findings.empty() &&
         (explain || (failed && is_to_blame(result, run)));
}

class TextReporter final : public RunReporter {
 public:
  TextReporter(RunReportOptions options, const Style& style)
      : options_(std::move(options)), style_(style) {}

  void done(const std::string& file, const Case& c, const CaseResult& result) override {
    for (const CaseRun& run : result.runs) note_coverage(run.verdict);
    if (options_.cases > 1 && !options_.every_case && !options_.explain &&
        result.outcome == CaseResult::Outcome::ok) {
      return;
    }
    fmt::print("{}{}{}", result_line(shown_name(file), result, options_.conditions.timings, style_),
               broken_expectations(result, style_), comparisons(result, style_));
    for (size_t run = 0; run < result.runs.size(); ++run) {
      if (is_reported(result, run, options_.explain)) report(file, c, result.runs[run].verdict);
    }
  }

  void failed(const std::string& /*file*/, ExitStatus /*status*/,
              const std::string& message) override {
    print_error(message);
  }

  void finish(const RunTally& tally) override {
    if (tally.cases() > 1) fmt::print("{}\n", in_a_line(tally));
    if (tally.failed == 0 && !judged_.covered.empty()) fmt::print("{}", coverage(judged_, style_));
  }

 private:
  /// Who judged any of the runs, and who could not judge all of them.
  void note_coverage(const Verdict& verdict) {
    const auto add = [](auto& list, const auto& item) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    };
    judged_.device = verdict.device;
    for (const auto& oracle : verdict.covered) add(judged_.covered, oracle);
    for (const auto& oracle : verdict.not_covered) add(judged_.not_covered, oracle);
  }

  void report(const std::string& file, const Case& c, const Verdict& verdict) const {
    fmt::print("\n{}\n", failure_report(c, verdict, options_.investigate(c, verdict),
                                        repeat_command(file, verdict, options_), style_));
  }

  std::string in_a_line(const RunTally& tally) const {
    std::string line = fmt::format("{} cases: {} as expected", tally.cases(), tally.as_expected);
    const auto append = [&](int64_t count, std::string_view what) {
      if (count > 0) line += fmt::format(", {} {}", count, what);
    };
    append(tally.failed, "failed");
    append(tally.incomplete, "incomplete");
    append(tally.bad_input, "bad input");
    append(tally.harness_failed, "where thaw itself failed");
    if (tally.exit_status() == ExitStatus::clean) return style_.good(line);
    return tally.exit_status() == ExitStatus::incomplete ? style_.doubtful(line) : style_.bad(line);
  }

  RunReportOptions options_;
  Style style_;
  Verdict judged_;  ///< coverage of all runs together
};

/// Of each failure the test alone, so that it can go into a file.
class TestReporter final : public RunReporter {
 public:
  void done(const std::string& /*file*/, const Case& c, const CaseResult& result) override {
    for (const CaseRun& run : result.runs) {
      if (!run.verdict.findings.empty()) fmt::print("{}", test_to_paste(c, run.verdict));
    }
  }
  void failed(const std::string& /*file*/, ExitStatus /*status*/,
              const std::string& message) override {
    print_error(message);
  }
  void finish(const RunTally& /*tally*/) override {}
};

class JsonReporter final : public RunReporter {
 public:
  explicit JsonReporter(RunReportOptions options) : options_(std::move(options)) {}

  void done(const std::string& file, const Case& c, const CaseResult& result) override {
    Json json = {{"file", shown_name(file)}};
    json.update(to_json(c, result, options_.conditions));
    for (size_t run = 0; run < result.runs.size(); ++run) {
      if (!is_reported(result, run, options_.explain)) continue;
      const Verdict& verdict = result.runs[run].verdict;
      json["runs"][run]["report"] = failure_json(c, verdict, options_.investigate(c, verdict),
                                                 repeat_command(file, verdict, options_));
    }
    cases_.push_back(std::move(json));
  }

  void failed(const std::string& file, ExitStatus status, const std::string& message) override {
    print_error(message);
    const char* outcome = status == ExitStatus::bad_input ? "bad_input" : "harness_failed";
    cases_.push_back({{"file", shown_name(file)}, {"outcome", outcome}, {"error", message}});
  }

  void finish(const RunTally& tally) override {
    Json json = {{"format", "thaw-run"}, {"version", json_version}, {"program", options_.program}};
    json["cases"] = std::move(cases_);
    json["summary"] = {{"cases", tally.cases()},
                       {"as_expected", tally.as_expected},
                       {"failed", tally.failed},
                       {"incomplete", tally.incomplete},
                       {"bad_input", tally.bad_input},
                       {"harness_failed", tally.harness_failed},
                       {"exit_status", static_cast<int>(tally.exit_status())}};
    fmt::print("{}", json_text(json));
  }

 private:
  RunReportOptions options_;
  Json cases_ = Json::array();
};

}  // namespace

void RunTally::count(CaseResult::Outcome outcome) {
  switch (outcome) {
    case CaseResult::Outcome::ok:
      ++as_expected;
      return;
    case CaseResult::Outcome::failed:
      ++failed;
      return;
    case CaseResult::Outcome::incomplete:
      ++incomplete;
      return;
  }
}

ExitStatus RunTally::exit_status() const {
  if (harness_failed > 0) return ExitStatus::harness_failed;
  if (bad_input > 0) return ExitStatus::bad_input;
  if (failed > 0) return ExitStatus::findings;
  return incomplete > 0 ? ExitStatus::incomplete : ExitStatus::clean;
}

std::unique_ptr<RunReporter> make_run_reporter(const RunReportOptions& options,
                                               const Style& style) {
  if (options.test_alone) return std::make_unique<TestReporter>();
  if (options.json) return std::make_unique<JsonReporter>(options);
  return std::make_unique<TextReporter>(options, style);
}

}  // namespace thaw
