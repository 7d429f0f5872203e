// SPDX-License-Identifier: Apache-2.0
#include "report/failure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "case/case_text.h"
#include "report/audit_text.h"
#include "report/case_excerpt.h"
#include "report/terminal.h"
#include "report/wrap.h"

namespace thaw {
namespace {

constexpr size_t lines_max = 60;
constexpr size_t slots_shown = 12;
constexpr size_t frozen_shown = 3;
constexpr std::string_view label_indent = "            ";

std::string labelled(std::string_view label, std::string_view text, const Style& style) {
  return text.empty() ? "" : wrap_labelled(label, text, label_indent, style.width);
}

/// Where, expected and found, a line each.
std::string facts(const Finding& finding, const Style& style) {
  return labelled("place", finding.place, style) + labelled("expected", finding.expected, style) +
         labelled("found", finding.found, style);
}

std::string why_text(const Finding& finding, const Style& style) {
  const Explanation why = explain(finding.kind);
  return labelled("cause", why.cause, style) + labelled("remedy", why.remedy, style);
}

/// How much a kind explains; the smallest leads.
int rank(FindingKind kind) {
  constexpr std::array order = {
      FindingKind::refusal, FindingKind::error,  FindingKind::liveness,    FindingKind::addresses,
      FindingKind::canary,  FindingKind::slots,  FindingKind::purity,      FindingKind::outputs,
      FindingKind::length,  FindingKind::freeze, FindingKind::determinism, FindingKind::permutation,
      FindingKind::fresh};
  return static_cast<int>(std::find(order.begin(), order.end(), kind) - order.begin());
}

/// The slots of the picture that are shown: around the first wrong one.
std::pair<size_t, size_t> slots_in_view(const FailureScene::Picture& picture) {
  const auto wrong = std::find_if(picture.slots.begin(), picture.slots.end(),
                                  [](const auto& slot) { return !slot.right; });
  const auto at = static_cast<size_t>(wrong - picture.slots.begin());
  const size_t first = at < slots_shown / 2 ? 0 : at - slots_shown / 2;
  const size_t last = std::min(picture.slots.size(), first + slots_shown);
  return {last < slots_shown ? 0 : std::min(first, last - std::min(last, slots_shown)), last};
}

std::string picture_text(const FailureScene::Picture& picture, const Style& style) {
  const auto [first, last] = slots_in_view(picture);
  size_t width = 3;
  for (size_t i = first; i < last; ++i) {
    const auto& slot = picture.slots[i];
    width = std::max({width, slot.expected.size() + 1, slot.found.size() + 1,
                      fmt::format("{}", slot.position).size() + 1});
  }
  std::string numbers = "  slot of   ", expected = "  expected  ", found = "  found     ";
  for (size_t i = first; i < last; ++i) {
    const auto& slot = picture.slots[i];
    numbers += fmt::format("{:>{}}", slot.position, width);
    expected += fmt::format("{:>{}}", slot.expected, width);
    const std::string cell = fmt::format("{:>{}}", slot.found, width);
    found += slot.right ? cell : style.bad(cell);
  }
  std::string marks(12, ' ');
  for (size_t i = first; i < last; ++i) {
    marks += fmt::format("{:>{}}", picture.slots[i].right ? "" : "^", width);
  }
  marks.erase(marks.find_last_not_of(' ') + 1);
  const std::string rest =
      last - first == picture.slots.size()
          ? ""
          : fmt::format(" ({} of {} slots)", last - first, picture.slots.size());
  EntryName row = picture.first;
  return wrap(
             fmt::format("The slots of row {} after op {}{}: layer {}, head {}, {}{}. In each slot "
                         "stands the position whose entry it holds; . nobody's, ? no entry, r1:5 "
                         "one of row 1.",
                         row.row, picture.op,
                         picture.step > 0 ? fmt::format(", step {}", picture.step) : "", row.layer,
                         row.head, row.role == Role::keys ? "keys" : "values", rest),
             "  ", style.width) +
         style.dim(numbers) + "\n" + expected + "\n" + found + "\n" + style.bad(marks) + "\n";
}

std::string frozen_sentence(const Frozen& frozen) {
  const FrozenElsewhere& other = frozen.elsewhere.front();
  const std::string writes =
      frozen.writes.empty() ? "" : fmt::format(", which writes {}", fmt::join(frozen.writes, ", "));
  if (frozen.kind == FrozenKind::branch) {
    return fmt::format("{} is {} or not, by {}", frozen.operation,
                       frozen.value == "recorded" ? "recorded" : "left out", other.follows);
  }
  return fmt::format("{}{}: argument {} is {}, and {} where {} differs{}", frozen.operation, writes,
                     frozen.argument, frozen.value, other.value, other.follows,
                     frozen.kind == FrozenKind::buffer ? ": the graph keeps the old one" : "");
}

std::string frozen_text(const Investigation& investigation, const Style& style) {
  if (!investigation.audit || !investigation.audit->complete()) return "";
  const auto& frozen = investigation.audit->frozen;
  if (frozen.empty()) {
    return labelled("frozen", "nothing that the audit of one step can see (thaw audit)", style);
  }
  std::string text;
  std::vector<std::string> said;
  for (const Frozen& f : frozen) {
    std::string sentence = frozen_sentence(f);
    if (std::find(said.begin(), said.end(), sentence) == said.end()) said.push_back(sentence);
  }
  for (size_t i = 0; i < std::min(said.size(), frozen_shown); ++i) {
    text += labelled(i == 0 ? "frozen" : "", said[i], style);
  }
  if (said.size() > frozen_shown) {
    text += labelled("",
                     fmt::format("and {} more: thaw audit {}", said.size() - frozen_shown,
                                 investigation.audit->cache),
                     style);
  }
  return text;
}

std::string list_of(const std::vector<int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::string matters_text(const Necessity& necessity, const Style& style) {
  std::string text;
  if (!necessity.needed_ops.empty()) {
    text += labelled("matters",
                     fmt::format("op {}{}", list_of(necessity.needed_ops),
                                 necessity.needed_values.empty()
                                     ? ""
                                     : fmt::format("; the value of {}",
                                                   fmt::join(necessity.needed_values, ", "))),
                     style);
  }
  if (!necessity.not_needed_ops.empty()) {
    text += labelled("does not",
                     fmt::format("op {}: without any one of these it still happens",
                                 list_of(necessity.not_needed_ops)),
                     style);
  }
  if (!necessity.any_value.empty()) {
    text += labelled(necessity.not_needed_ops.empty() ? "does not" : "",
                     fmt::format("any value works for {}", fmt::join(necessity.any_value, ", ")),
                     style);
  }
  return text;
}

std::string others_text(const Verdict& verdict, const Finding& leading, const Style& style) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    if (&finding == &leading) continue;
    text += labelled(text.empty() ? "also" : "",
                     fmt::format("{}: {}: expected {}, found {}", headline(finding), finding.place,
                                 finding.expected, finding.found),
                     style);
  }
  return text;
}

std::string identifier(std::string_view text) {
  std::string name;
  bool upper = true;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter) {
      upper = true;
      continue;
    }
    name += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return name;
}

std::string head(const Verdict& verdict, const Finding& leading, const Style& style) {
  const Finding& first = verdict.findings.front();
  std::string text = fmt::format("{} on {}: {}", verdict.cache, verdict.device, headline(leading));
  if (verdict.findings.size() > 1) {
    text += fmt::format(", and {} more kind{} of finding", verdict.findings.size() - 1,
                        verdict.findings.size() == 2 ? "" : "s");
    if (&first != &leading) text += fmt::format("; the first in time is {}", headline(first));
  }
  std::string wrapped = wrap(text, "", style.width);
  wrapped.pop_back();
  return style.bad(wrapped) + "\n";
}

}  // namespace

std::string describe_finding(const Finding& finding, const Style& style) {
  return style.bad(headline(finding)) + "\n" + facts(finding, style) + why_text(finding, style);
}

const Finding& leading_finding(const Verdict& verdict) {
  return *std::min_element(
      verdict.findings.begin(), verdict.findings.end(),
      [](const Finding& a, const Finding& b) { return rank(a.kind) < rank(b.kind); });
}

Investigation investigate(const Case& c, const Verdict& verdict, Device& device,
                          const Registry& registry, const RunOptions& options) {
  Investigation result;
  RunOptions again = options;
  again.cache = verdict.cache;
  again.observers = {&result.scene};
  run_case(c, device, registry, again);
  result.necessity = find_necessity(c, leading_finding(verdict), device, registry, again);
  if (device.abilities().typed_arguments) {
    Settings settings = c.settings;
    settings.cache = verdict.cache;
    settings.slots = std::max(settings.slots, slots_of_an_audit);
    result.audit = audit(settings, device, registry, options.kernels);
  }
  return result;
}

std::string failure_report(const Case& c, const Verdict& verdict,
                           const Investigation& investigation, std::string_view repeat,
                           const Style& style) {
  const Finding& leading = leading_finding(verdict);
  std::string text = head(verdict, leading, style) + "\n" +
                     case_excerpt(c, verdict.findings, &investigation.scene, style) + "\n";
  if (const auto& picture = investigation.scene.picture()) {
    text += picture_text(*picture, style) + "\n";
  }
  text += facts(leading, style) + frozen_text(investigation, style) + why_text(leading, style) +
          matters_text(investigation.necessity, style) + others_text(verdict, leading, style) +
          labelled("repeat", repeat, style);
  const std::string test = test_to_paste(c, verdict);
  const auto lines = [](const std::string& t) {
    return static_cast<size_t>(std::count(t.begin(), t.end(), '\n'));
  };
  if (lines(text) + lines(test) + 2 <= lines_max) {
    return text + "\n" + style.dim("  A test to paste:") + "\n\n" + test;
  }
  return text +
         labelled("test", fmt::format("{} --gtest prints a GoogleTest to paste", repeat), style);
}

std::string test_to_paste(const Case& c, const Verdict& verdict) {
  const Finding& leading = leading_finding(verdict);
  Case cut = cut_after(c, leading.op);
  cut.settings.cache = verdict.cache;
  return fmt::format(
      "#include <gtest/gtest.h>\n\n"
      "#include \"case/case_text.h\"\n"
      "#include \"device/sim/sim_device.h\"\n"
      "#include \"report/terminal.h\"\n"
      "#include \"session/session.h\"\n"
      "#include \"zoo/zoo.h\"\n\n"
      "TEST({}, has_no_{}_finding) {{\n"
      "  const thaw::Case c = thaw::parse_case(R\"case({})case\", \"pasted\");\n"
      "  thaw::SimDevice device;\n"
      "  const thaw::Verdict verdict = thaw::run_case(c, device, thaw::full_registry());\n"
      "  EXPECT_EQ(verdict.find(thaw::FindingKind::{}), nullptr) << thaw::summary(verdict);\n"
      "}}\n",
      identifier(verdict.cache), to_string(leading.kind), print_case(cut), to_string(leading.kind));
}

Json failure_json(const Case& c, const Verdict& verdict, const Investigation& investigation,
                  std::string_view repeat) {
  const Finding& leading = leading_finding(verdict);
  Json json = {{"leading", headline(leading)}, {"ops", Json::array()}};
  for (const auto& after : investigation.scene.ops()) {
    json["ops"].push_back(Json{{"lengths", after.lengths}, {"accepted", after.accepted}});
  }
  if (const auto& picture = investigation.scene.picture()) {
    Json slots = Json::array();
    for (const auto& slot : picture->slots) {
      slots.push_back(
          Json{{"position", slot.position}, {"expected", slot.expected}, {"found", slot.found}});
    }
    json["picture"] = {{"op", picture->op},
                       {"step", picture->step},
                       {"place", to_string(picture->first)},
                       {"slots", std::move(slots)}};
  }
  json["frozen"] = investigation.audit ? to_json(*investigation.audit)["frozen"] : Json::array();
  json["needed_ops"] = investigation.necessity.needed_ops;
  json["not_needed_ops"] = investigation.necessity.not_needed_ops;
  json["any_value"] = investigation.necessity.any_value;
  json["needed_values"] = investigation.necessity.needed_values;
  json["repeat"] = repeat;
  json["test"] = test_to_paste(c, verdict);
  return json;
}

}  // namespace thaw
