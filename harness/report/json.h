// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "case/case.h"
#include "session/case_result.h"

namespace thaw {

/// Reports for programs; docs/schema/verdict.schema.json describes them. Keys keep their order, so
/// that equal results are equal texts.
using Json = nlohmann::ordered_json;

/// The version of the formats, here and in the schemas. It grows when something that was there
/// changes its meaning or goes; additions leave it.
constexpr int json_version = 1;

/// How the runs of a result were made, as far as the case does not say.
struct RunConditions {
  Kernels kernels = Kernels::registered;
  bool freed_memory_filled = true;
  bool timings = false;  ///< add wall times, which differ from run to run
};

/// A case with all its runs and expectations: the schema's `result`.
Json to_json(const Case& c, const CaseResult& result, const RunConditions& conditions);

/// One run: the schema's `verdict`.
Json to_json(const Verdict& verdict, const RunConditions& conditions);

/// As one line. Bytes that are not UTF-8, as file names may hold, become U+FFFD.
std::string json_line(const Json& json);
/// The same, indented for people.
std::string json_text(const Json& json);

}  // namespace thaw
