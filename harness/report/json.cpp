// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "case/case_text.h"

namespace thaw {
namespace {

Json to_json(const Finding& finding) {
  const Explanation why = explain(finding.kind);
  return {{"kind", to_string(finding.kind)},
          {"op", finding.op},
          {"step", finding.step},
          {"place", finding.place},
          {"expected", finding.expected},
          {"found", finding.found},
          {"code", finding.code},
          {"cause", why.cause},
          {"remedy", why.remedy}};
}

Json to_json(const ExpectResult& result, const CaseResult& of) {
  Json holds;  // null: unknown
  if (result.held != Held::unknown) holds = result.held == Held::yes;
  return {{"expect", print_expect(result.expect)},
          {"cache", of.runs[result.run].verdict.cache},
          {"holds", std::move(holds)}};
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json to_json(const Verdict& verdict, const RunConditions& conditions) {
  Json json = {{"cache", verdict.cache},
               {"device", verdict.device},
               {"kernels", to_string(conditions.kernels)},
               {"freed_memory", conditions.freed_memory_filled ? "filled" : "left"},
               {"status", to_string(verdict.status)}};
  if (verdict.status == Verdict::Status::incomplete) {
    json["incomplete_because"] = verdict.incomplete_because;
  }
  json["findings"] = Json::array();
  for (const Finding& finding : verdict.findings) json["findings"].push_back(to_json(finding));
  json["covered"] = verdict.covered;
  json["not_covered"] = Json::array();
  for (const auto& [oracle, because] : verdict.not_covered) {
    json["not_covered"].push_back({{"oracle", oracle}, {"because", because}});
  }
  if (!verdict.comparison.empty()) json["comparison"] = verdict.comparison;
  json["counts"] = {{"ops", verdict.ops},
                    {"steps", verdict.steps},
                    {"captures", verdict.captures},
                    {"replays", verdict.replays}};
  return json;
}

Json to_json(const Case& c, const CaseResult& result, const RunConditions& conditions) {
  Json json = {{"outcome", to_string(result.outcome)}, {"case", print_case(c)}};
  json["runs"] = Json::array();
  for (const CaseRun& run : result.runs) {
    json["runs"].push_back(to_json(run.verdict, conditions));
    if (conditions.timings) json["runs"].back()["seconds"] = run.seconds;
  }
  json["expectations"] = Json::array();
  for (const ExpectResult& expect : result.expects) {
    json["expectations"].push_back(to_json(expect, result));
  }
  return json;
}

std::string json_line(const Json& json) { return dump(json, -1) + "\n"; }

std::string json_text(const Json& json) { return dump(json, 2) + "\n"; }

}  // namespace thaw
