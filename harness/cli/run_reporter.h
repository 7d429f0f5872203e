// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "case/case.h"
#include "cli/command.h"
#include "report/failure_report.h"
#include "report/json.h"
#include "session/case_result.h"

namespace thaw {

/// How `thaw run` reports.
struct RunReportOptions {
  bool json = false;
  bool every_case = false;  ///< a line also for cases that are as expected
  bool explain = false;     ///< a full report also for findings that were expected
  size_t cases = 0;         ///< how many there will be
  std::string program;      ///< what --version prints
  RunConditions conditions;
  std::string flags;        ///< of the command that repeats a run: " --kernels torch"
  bool test_alone = false;  ///< of a failure only the GoogleTest to paste
  /// What else is known of a run that has findings.
  std::function<Investigation(const Case&, const Verdict&)> investigate;
};

/// How often each thing happened in a `thaw run`, and the exit status that follows.
struct RunTally {
  int64_t as_expected = 0, failed = 0, incomplete = 0, bad_input = 0, harness_failed = 0;

  void count(CaseResult::Outcome outcome);
  int64_t cases() const { return as_expected + failed + incomplete + bad_input + harness_failed; }
  /// The gravest of all: the harness failed, bad input, findings, incomplete, clean.
  ExitStatus exit_status() const;
};

/// Where `thaw run` tells what happened, case by case, in order. Texts and documents go to standard
/// output; what is wrong with the input or with thaw itself goes to standard error as well, so that
/// it is seen where the output goes into a file.
class RunReporter {
 public:
  virtual ~RunReporter() = default;

  virtual void done(const std::string& file, const Case& c, const CaseResult& result) = 0;
  /// `status` is bad_input or harness_failed; `message` names the file.
  virtual void failed(const std::string& file, ExitStatus status, const std::string& message) = 0;
  virtual void finish(const RunTally& tally) = 0;
};

std::unique_ptr<RunReporter> make_run_reporter(const RunReportOptions& options, const Style& style);

}  // namespace thaw
