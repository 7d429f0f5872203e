// SPDX-License-Identifier: Apache-2.0
#include "gpu/compare/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace thaw {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const Json& finding) {
  std::string text =
      fmt::format("{}@{}", finding.at("kind").get<std::string>(), finding.at("op").get<int64_t>());
  if (const auto step = finding.at("step").get<int64_t>(); step > 0) {
    text += fmt::format(".{}", step);
  }
  if (const auto code = finding.at("code").get<int64_t>(); code != 0) {
    text += fmt::format(" ({})", code);
  }
  return text;
}

/// The oracles that a run does without, with the reason.
std::map<std::string, std::string> not_covered(const Json& run) {
  std::map<std::string, std::string> oracles;
  for (const Json& entry : run.at("not_covered")) {
    oracles.emplace(entry.at("oracle"), entry.at("because"));
  }
  return oracles;
}

class Comparer {
 public:
  void compare_case(const Json& first, const Json& second) {
    ++comparison.cases;
    file_ = first.at("file");
    if (file_ != second.at("file")) {
      throw NotComparable(fmt::format("the documents differ in their cases: {} and {}", file_,
                                      second.at("file").get<std::string>()));
    }
    if (!first.contains("runs") || !second.contains("runs")) {
      differ(outcome(first), outcome(second));
      return;
    }
    const Json &runs = first.at("runs"), &others = second.at("runs");
    for (size_t i = 0; i < runs.size() && i < others.size(); ++i) {
      compare_run(runs[i], others[i]);
    }
    if (runs.size() != others.size()) {
      differ(fmt::format("{} runs", runs.size()), fmt::format("{} runs", others.size()));
    }
  }

  Comparison comparison;

 private:
  static std::string outcome(const Json& of_case) {
    const std::string what = of_case.at("outcome");
    return of_case.contains("error") ? what + ": " + of_case.at("error").get<std::string>() : what;
  }

  void compare_run(const Json& first, const Json& second) {
    ++comparison.runs;
    cache_ = first.at("cache");
    for (const Json* run : {&first, &second}) {
      if (run->at("status") == "incomplete") {
        ++comparison.unseen[fmt::format("on {}: {}", run->at("device").get<std::string>(),
                                        run->at("incomplete_because").get<std::string>())];
        return;
      }
    }
    std::set<std::string> blind;
    for (const Json* run : {&first, &second}) {
      for (const auto& [oracle, because] : not_covered(*run)) {
        blind.insert(oracle);
        ++comparison.unseen[fmt::format("{} on {}: {}", oracle,
                                        run->at("device").get<std::string>(), because)];
      }
    }
    const std::string one = findings(first, blind), other = findings(second, blind);
    if (one == other) {
      ++comparison.same;
    } else {
      differ(one, other);
    }
    cache_.clear();
  }

  static std::string findings(const Json& run, const std::set<std::string>& blind) {
    std::set<std::string> seen;
    for (const Json& finding : run.at("findings")) {
      if (blind.count(finding.at("kind")) == 0) seen.insert(shown(finding));
    }
    return seen.empty() ? "clean" : fmt::format("{}", fmt::join(seen, " "));
  }

  void differ(const std::string& one, const std::string& other) {
    comparison.differences.push_back(
        fmt::format("{}{}: {} | {}", file_, cache_.empty() ? "" : ", " + cache_, one, other));
  }

  std::string file_, cache_;
};

}  // namespace

Comparison compare_verdicts(const Json& first, const Json& second) {
  try {
    const Json &cases = first.at("cases"), &others = second.at("cases");
    if (cases.size() != others.size()) {
      throw NotComparable(
          fmt::format("the documents have {} and {} cases", cases.size(), others.size()));
    }
    Comparer comparer;
    for (size_t i = 0; i < cases.size(); ++i) comparer.compare_case(cases[i], others[i]);
    return std::move(comparer.comparison);
  } catch (const nlohmann::json::exception& e) {
    throw NotComparable(fmt::format("not a document of 'thaw run --json': {}", e.what()));
  }
}

}  // namespace thaw
