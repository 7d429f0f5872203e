// SPDX-License-Identifier: Apache-2.0
#include "report/reproduction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/wrap.h"

namespace thaw {
namespace {

constexpr int64_t slots_shown = 12;
constexpr size_t picture_width = 2 * slots_shown;
constexpr size_t left_margin = 13;
constexpr size_t panel_width = 43;

std::string positions(const std::vector<WrittenSlots::Slot>& slots) {
  if (slots.empty()) return "nothing";
  std::vector<int64_t> numbers;
  for (const auto& slot : slots) numbers.push_back(slot.position);
  return fmt::format("{}", fmt::join(numbers, ", "));
}

bool contains(const std::vector<WrittenSlots::Slot>& slots, int64_t position) {
  return std::any_of(slots.begin(), slots.end(),
                     [&](const auto& slot) { return slot.position == position; });
}

/// The row of slots of one cache as it fills, replay by replay.
class Panel {
 public:
  explicit Panel(const Reproduction& of) : of_(of) {
    prompt_ = of.replays.empty() || of.replays.front().expected.empty()
                  ? 0
                  : of.replays.front().expected.front().position;
  }

  std::string prompt() const {
    std::string line;
    for (int64_t slot = 0; slot < slots_shown; ++slot) line += slot < prompt_ ? "# " : ". ";
    return line;
  }

  /// The slots after replay `index`, and what it wrote; padded to the panel's width before colours.
  std::string replay(size_t index, const Style& style) {
    const WrittenSlots::Step& step = of_.replays[index];
    const bool right = step.written == step.expected;
    for (const auto& slot : step.expected) expected_.insert(slot.position);
    if (right) {
      for (const auto& slot : step.expected) there_.insert(slot.position);
    }
    std::string line;
    for (int64_t slot = 0; slot < slots_shown; ++slot) {
      line += cell(step, slot, right, style) + " ";
    }
    std::string wrote = "  wrote " + positions(step.written);
    if (!right) wrote += ", not " + positions(step.expected);
    const size_t used = picture_width + wrote.size();
    const std::string padding(panel_width - std::min(panel_width, used), ' ');
    return line + (right ? style.good(wrote) : style.bad(wrote)) + padding;
  }

 private:
  std::string cell(const WrittenSlots::Step& step, int64_t slot, bool right,
                   const Style& style) const {
    if (contains(step.written, slot)) return right ? style.good("W") : style.bad("W");
    if (slot < prompt_) return "#";
    if (there_.count(slot) != 0) return "=";
    return expected_.count(slot) != 0 ? style.bad("_") : std::string(".");
  }

  const Reproduction& of_;
  int64_t prompt_ = 0;
  std::set<int64_t> expected_, there_;
};

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

std::string title(const Reproduction& of, const Style& style) {
  const std::string text =
      padded(fmt::format("{}: {}", of.of->cache, of.of->behaviour), panel_width);
  return of.of->behaviour == "right" ? style.good(text) : style.bad(text);
}

std::string slot_numbers() {
  std::string line;
  for (int64_t slot = 0; slot < slots_shown; ++slot) line += fmt::format("{:<2}", slot % 10);
  return padded(line, panel_width);
}

std::string first_wrong(const Reproduction& wrong) {
  std::string text;
  if (const auto& token = wrong.first_wrong_token) {
    text +=
        fmt::format("First wrong token:   replay {}: the token at position {} is not in slot {}.\n",
                    token->step, token->position, token->position);
  }
  if (const Finding* output = wrong.verdict.find(FindingKind::outputs)) {
    text += fmt::format("First wrong output:  replay {}: {},\n                     is not {}.\n",
                        output->step, output->place, output->expected);
  }
  return text;
}

/// What a demonstration needs of freed memory.
std::string_view to_string(FreedMemory freed_memory) {
  switch (freed_memory) {
    case FreedMemory::any:
      return "any";
    case FreedMemory::left_alone:
      return "left alone";
    case FreedMemory::filled_with_ones:
      return "filled";
  }
  return "";
}

}  // namespace

std::string reproduction_picture(const Reproduction& right, const Reproduction& wrong,
                                 const Style& style) {
  Panel left(right), other(wrong);
  const auto line = [&](std::string_view label, const std::string& a, const std::string& b) {
    std::string both = fmt::format("  {:<{}}{}{}", label, left_margin - 2, a, b);
    both.erase(both.find_last_not_of(' ') + 1);
    return both + "\n";
  };
  std::string text = line("", title(right, style), title(wrong, style));
  text += line("slot", slot_numbers(), slot_numbers());
  text += line("prompt", padded(left.prompt(), panel_width), other.prompt());
  for (size_t i = 0; i < std::min(right.replays.size(), wrong.replays.size()); ++i) {
    text += line(fmt::format("replay {}", i + 1), left.replay(i, style), other.replay(i, style));
  }
  text += style.dim(
      "\n  # prompt   W written by this replay   = a token of an earlier one   _ a token that is "
      "missing\n\n");
  text += first_wrong(wrong);
  text += "\n" + style.bold("Why") + "\n" + wrap(wrong.of->why, "  ", style.width);
  return text;
}

std::string reproduction_title(const Demonstration& demonstration) {
  std::string title(demonstration.cache);
  if (!demonstration.scenario.empty()) title += fmt::format(", {}", demonstration.scenario);
  if (demonstration.freed_memory == FreedMemory::left_alone) title += ", freed memory left alone";
  return fmt::format("{}: {}", title, demonstration.behaviour);
}

std::string reproduction_table(std::span<const Reproduction> rows, const Style& style) {
  std::string text = style.bold(
      fmt::format("  {:<26}{:<15}{:<18}{}\n", "cache", "freed memory", "replays wrote", "that is"));
  for (const Reproduction& row : rows) {
    std::vector<std::string> wrote, found;
    for (const auto& step : row.replays) {
      wrote.push_back(step.written.empty() ? "-" : positions(step.written));
    }
    const bool nothing = std::all_of(row.replays.begin(), row.replays.end(),
                                     [](const auto& step) { return step.written.empty(); });
    for (const Finding& finding : row.verdict.findings) found.push_back(headline(finding));
    text += fmt::format("  {:<26}{:<15}{:<18}{}\n", row.of->cache, to_string(row.of->freed_memory),
                        nothing ? "nothing" : fmt::format("{}", fmt::join(wrote, " ")),
                        row.of->behaviour == "right" ? style.good(row.of->behaviour)
                                                     : style.bad(row.of->behaviour));
    if (!row.of->scenario.empty()) text += fmt::format("    ({})\n", row.of->scenario);
    if (!found.empty()) text += style.dim(fmt::format("    {}\n", fmt::join(found, "  ")));
  }
  return text;
}

}  // namespace thaw
