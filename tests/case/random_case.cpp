// SPDX-License-Identifier: Apache-2.0
#include "case/random_case.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "case/op_table.h"

namespace thaw {

int64_t RandomCaseText::number(int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random_);
}

std::string RandomCaseText::blanks() {
  constexpr std::array<const char*, 4> choices{" ", "  ", "\t", " \t "};
  return chance(4) ? choices[static_cast<size_t>(number(0, 3))] : " ";
}

std::string RandomCaseText::comment() {
  constexpr std::array<const char*, 8> choices{"#",         "# ",    "#a",        "# decode",
                                               "#  # two ", "#\t\t", "#\xC3\xA9", "# x\ty "};
  return choices[static_cast<size_t>(number(0, 7))];
}

std::string RandomCaseText::name() {
  constexpr std::array<const char*, 5> choices{"g", "h", "graph_2", "a0", "x3"};
  return choices[static_cast<size_t>(number(0, 4))];
}

std::string RandomCaseText::cache() {
  constexpr std::array<const char*, 5> choices{"static", "counter", "counter:cpu_scalar",
                                               "zoo:late_write", "my_cache"};
  return choices[static_cast<size_t>(number(0, 4))];
}

/// `settings` has the kv_heads that heads must be a multiple of.
std::string RandomCaseText::setting_value(size_t key, const Settings& settings) {
  const KeyRow& row = key_rows()[key];
  if (row.is_name()) return cache();
  if (chance(4) && row.name != "heads") return key_value(row, Settings{});
  if (!row.choices.empty()) {
    return std::string(
        row.choices[static_cast<size_t>(number(0, static_cast<int64_t>(row.choices.size()) - 1))]);
  }
  if (row.name == "heads") {
    return std::to_string(settings.kv_heads * number(1, 16 / settings.kv_heads));
  }
  // Any decoder takes an even dim from twelve on.
  if (row.name == "dim") return std::to_string(2 * number(6, 128));
  // The window is drawn before the slots are known: at most as many as there are at least.
  const Bounds bounds = row.name == "window" ? Bounds{0, 1} : row.bounds;
  return std::to_string(number(bounds.least, bounds.most));
}

std::string RandomCaseText::op_words() {
  const auto rows = op_rows();
  const OpRow& op = rows[static_cast<size_t>(number(0, static_cast<int64_t>(rows.size()) - 1))];
  std::string words(op.name);
  const auto row = [&] { return std::to_string(number(0, settings_.rows - 1)); };
  for (const OpArgument& argument : op.arguments) {
    switch (argument.kind) {
      case OpArgumentKind::rows:
        words += blanks() + (chance(3) ? "all" : row());
        break;
      case OpArgumentKind::row:
        words += blanks() + row();
        break;
      case OpArgumentKind::order:
        for (int64_t i = 0; i < settings_.rows; ++i) words += blanks() + row();
        break;
      case OpArgumentKind::number: {
        const Bounds bounds = resolved(argument.bounds, settings_.rows, settings_.slots);
        words += blanks() + std::to_string(number(bounds.least, bounds.most));
        break;
      }
      case OpArgumentKind::choice:
        words += blanks();
        words += argument.choices[static_cast<size_t>(
            number(0, static_cast<int64_t>(argument.choices.size()) - 1))];
        break;
      case OpArgumentKind::graph:
        words += blanks() + name();
        break;
    }
  }
  std::vector<Modifier> modifiers(op.modifiers.begin(), op.modifiers.end());
  std::shuffle(modifiers.begin(), modifiers.end(), random_);
  for (const Modifier& modifier : modifiers) {
    if (chance(2)) continue;
    words += blanks();
    words += modifier.prefix;
    if (modifier.is_name()) {
      words += name();
      continue;
    }
    const Bounds bounds = resolved(modifier.bounds, settings_.rows, settings_.slots);
    const int64_t most = chance(2) ? 1 : std::min<int64_t>(bounds.most, 1000);
    words += std::to_string(number(1, most));
  }
  return words;
}

std::string RandomCaseText::expect_words() {
  std::string words = "expect" + blanks();
  if (chance(2)) words += cache() + blanks();
  if (chance(4)) return words + "clean";
  words += finding_kinds()[static_cast<size_t>(number(0, 12))].name;
  if (chance(3)) return words;
  words += "@" + std::to_string(number(1, 20));
  if (chance(2)) words += "." + std::to_string(number(1, 20));
  return words;
}

void RandomCaseText::add_line(const std::string& words) {
  while (chance(4)) text_ += (chance(3) ? std::string() : comment()) + line_end_;
  if (chance(6)) text_ += blanks();
  text_ += words;
  if (chance(4)) text_ += blanks() + comment();
  text_ += line_end_;
}

void RandomCaseText::maybe_expect() {
  if (chance(6)) add_line(expect_words());
}

std::string RandomCaseText::draw() {
  settings_ = {};
  line_end_ = chance(3) ? "\r\n" : "\n";
  text_ = "thaw case 1" + (chance(8) ? blanks() + comment() : std::string()) + line_end_;
  std::array<size_t, key_count> keys{};
  std::iota(keys.begin(), keys.end(), size_t{0});
  std::shuffle(keys.begin(), keys.end(), random_);
  // Drawn first, because heads is made from it.
  const int64_t kv_heads = number(1, 16);
  const bool heads_are_written = chance(2);
  if (heads_are_written) settings_.kv_heads = kv_heads;
  for (const size_t key : keys) {
    const KeyRow& row = key_rows()[key];
    const bool is_head_count = row.name == "heads" || row.name == "kv_heads";
    if (is_head_count ? !heads_are_written : !chance(3)) continue;
    const std::string value =
        row.name == "kv_heads" ? std::to_string(kv_heads) : setting_value(key, settings_);
    if (row.name == "rows") settings_.rows = std::stoll(value);
    if (row.name == "slots") settings_.slots = std::stoll(value);
    add_line(std::string(row.name) + blanks() + value);
    maybe_expect();
  }
  for (int64_t ops = number(0, 16); ops > 0; --ops) {
    add_line(op_words());
    maybe_expect();
  }
  while (chance(4)) text_ += comment() + line_end_;
  return text_;
}

}  // namespace thaw
