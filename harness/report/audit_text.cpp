// SPDX-License-Identifier: Apache-2.0
#include "report/audit_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/wrap.h"

namespace thaw {
namespace {

constexpr std::string_view does_not_prove =
    "Not proven by this: that a counter in device memory, which advances itself, is where it "
    "should "
    "be (it records the same graph every time; `thaw run` shows its drift), and that host memory "
    "which a node reads still holds at a replay what it held at the launch before.";

std::string count_of(size_t number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

size_t nodes_of(const Audit& audit, int64_t q_len) {
  for (const auto& [compared, nodes] : audit.nodes) {
    if (compared == q_len) return nodes;
  }
  return 0;
}

std::string heading(const Audit& audit, const Frozen& frozen) {
  const std::string node =
      frozen.node == 0 ? "a node that A has not"
                       : fmt::format("node {} of {}", frozen.node, nodes_of(audit, frozen.q_len));
  return fmt::format("q_len {}, {}: {}{}{}", frozen.q_len, node, frozen.operation,
                     frozen.writes.empty() ? "" : ", which writes ",
                     fmt::join(frozen.writes, ", "));
}

/// Values at B, each once, with all that it follows.
std::vector<FrozenElsewhere> merged(const std::vector<FrozenElsewhere>& elsewhere) {
  std::vector<FrozenElsewhere> result;
  for (const FrozenElsewhere& e : elsewhere) {
    const auto same = std::find_if(result.begin(), result.end(),
                                   [&](const FrozenElsewhere& r) { return r.value == e.value; });
    if (same == result.end()) {
      result.push_back(e);
    } else {
      same->follows += ", " + e.follows;
    }
  }
  return result;
}

/// The table of one frozen dependence; a value that is too long for a column gets its own lines.
std::string table(const Frozen& frozen, const Style& style) {
  const std::vector<FrozenElsewhere> rows = merged(frozen.elsewhere);
  const std::string argument = frozen.argument.empty() ? "(the node)" : frozen.argument;
  size_t name = std::max<size_t>(argument.size(), 8);
  size_t a = std::max<size_t>(frozen.value.size(), 4);
  size_t b = 4;
  for (const FrozenElsewhere& row : rows) b = std::max(b, row.value.size());
  if (static_cast<int>(name + a + b) + 40 > style.width) {
    std::string text = wrap_labelled("argument", argument, "              ", style.width) +
                       wrap_labelled("A", frozen.value, "              ", style.width);
    for (const FrozenElsewhere& row : rows) {
      text += wrap_labelled("B", row.value, "              ", style.width) +
              wrap_labelled("follows", row.follows, "              ", style.width);
    }
    return text;
  }
  std::string text =
      style.dim(fmt::format("    {:{}}  {:{}}  {:{}}  follows", "argument", name, "A", a, "B", b)) +
      "\n";
  bool first = true;
  for (const FrozenElsewhere& row : rows) {
    const std::string left = fmt::format("    {:{}}  {:{}}  {:{}}  ", first ? argument : "", name,
                                         first ? frozen.value : "", a, row.value, b);
    const std::string wrapped = wrap(row.follows, std::string(left.size(), ' '), style.width);
    text += left + wrapped.substr(left.size());
    first = false;
  }
  return text;
}

std::string recorded_by(const Frozen& frozen, const Style& style) {
  std::string text;
  for (const std::string& function : frozen.recorded_by) {
    text += wrap(function, text.empty() ? "    recorded by  " : "                 ", style.width);
  }
  return text;
}

std::string graphs_compared(const Audit& audit) {
  std::vector<std::string> graphs;
  for (const auto& [q_len, nodes] : audit.nodes) {
    graphs.push_back(fmt::format("{} at q_len {}", count_of(nodes, "node", "nodes"), q_len));
  }
  return fmt::format("{}", fmt::join(graphs, " and "));
}

std::string footer(const Audit& audit, const Style& style) {
  std::string text;
  if (audit.complete()) {
    text += wrap(fmt::format("compared: {}; A with captures that differ in {}",
                             graphs_compared(audit), fmt::join(audit.compared, "; ")),
                 "  ", style.width);
  }
  for (const auto& [what, why] : audit.not_compared) {
    text += wrap(fmt::format("not compared: {}: {}", what, why), "  ", style.width);
  }
  for (const HostSource& source : audit.host_sources) {
    text +=
        wrap(fmt::format("reads host memory at each replay: q_len {}, node {}, {}, argument {}: "
                         "{}, {}",
                         source.q_len, source.node, source.operation, source.argument,
                         source.memory, count_of(source.bytes, "byte", "bytes")),
             "  ", style.width);
  }
  return text;
}

std::string verdict(const Audit& audit, const Style& style) {
  if (!audit.complete()) return style.doubtful("nothing was compared");
  if (audit.clean()) return style.good("the graph depends on device memory only");
  const auto of_kind = [&](FrozenKind kind) {
    return static_cast<size_t>(std::count_if(audit.frozen.begin(), audit.frozen.end(),
                                             [&](const Frozen& f) { return f.kind == kind; }));
  };
  std::vector<std::string> parts;
  if (const size_t n = of_kind(FrozenKind::value)) {
    parts.push_back(count_of(n, "host value", "host values"));
  }
  if (const size_t n = of_kind(FrozenKind::buffer)) {
    parts.push_back(count_of(n, "moved buffer", "moved buffers"));
  }
  if (const size_t n = of_kind(FrozenKind::branch)) {
    parts.push_back(count_of(n, "branch", "branches"));
  }
  return style.bad(fmt::format("frozen: {}", fmt::join(parts, ", ")));
}

}  // namespace

std::string audit_text(const Audit& audit, const Style& style) {
  std::string text =
      fmt::format("{} on {}: {}\n", style.bold(audit.cache), audit.device, verdict(audit, style));
  for (const Frozen& frozen : audit.frozen) {
    text += "\n" + wrap(heading(audit, frozen), "  ", style.width) + table(frozen, style) +
            recorded_by(frozen, style);
  }
  text += (audit.clean() ? "" : "\n") + footer(audit, style);
  if (audit.clean() && audit.complete()) text += wrap(does_not_prove, "  ", style.width);
  return text;
}

Json to_json(const Audit& audit) {
  Json json = {{"cache", audit.cache},
               {"device", audit.device},
               {"status", !audit.complete() ? "incomplete"
                          : audit.clean()   ? "clean"
                                            : "frozen"},
               {"frozen", Json::array()},
               {"host_sources", Json::array()},
               {"nodes", Json::array()},
               {"compared", audit.compared},
               {"not_compared", Json::array()}};
  for (const Frozen& frozen : audit.frozen) {
    Json& row = json["frozen"].emplace_back(Json{{"kind", to_string(frozen.kind)},
                                                 {"q_len", frozen.q_len},
                                                 {"node", frozen.node},
                                                 {"operation", frozen.operation},
                                                 {"writes", frozen.writes},
                                                 {"argument", frozen.argument},
                                                 {"value", frozen.value},
                                                 {"elsewhere", Json::array()},
                                                 {"recorded_by", frozen.recorded_by}});
    for (const FrozenElsewhere& e : frozen.elsewhere) {
      row["elsewhere"].push_back(Json{{"follows", e.follows}, {"value", e.value}});
    }
  }
  for (const HostSource& source : audit.host_sources) {
    json["host_sources"].push_back(Json{{"q_len", source.q_len},
                                        {"node", source.node},
                                        {"operation", source.operation},
                                        {"argument", source.argument},
                                        {"memory", source.memory},
                                        {"bytes", source.bytes}});
  }
  for (const auto& [q_len, nodes] : audit.nodes) {
    json["nodes"].push_back(Json{{"q_len", q_len}, {"count", nodes}});
  }
  for (const auto& [what, because] : audit.not_compared) {
    json["not_compared"].push_back(Json{{"what", what}, {"because", because}});
  }
  return json;
}

}  // namespace thaw
