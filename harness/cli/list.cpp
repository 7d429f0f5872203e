// SPDX-License-Identifier: Apache-2.0
//
// thaw list: what there is, made from the tables that everything else is made from.

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "case/finding_kind.h"
#include "case/op_table.h"
#include "case/suggestions.h"
#include "cli/command.h"
#include "oracles/oracle.h"
#include "report/json.h"
#include "report/wrap.h"

namespace thaw {
namespace {

/// One thing of a list: a name, a sentence, and what else there is to say about it.
struct Item {
  std::string name;
  std::string sentence;
  std::vector<std::pair<std::string, std::string>> more;  ///< label and text
};

std::vector<Item> caches(const CommandContext& context) {
  std::vector<Item> items;
  for (const Registry::Entry& entry : context.registry.entries()) {
    items.push_back({entry.name, entry.summary, {}});
    if (entry.faulty) items.back().more.emplace_back("faulty", "wrong on purpose");
  }
  return items;
}

std::vector<Item> ops(const CommandContext& /*context*/) {
  std::vector<Item> items;
  for (const OpRow& row : op_rows()) {
    items.push_back({op_form(row), std::string(row.description), {}});
    if (!row.precondition.empty()) {
      items.back().more.emplace_back("needs", row.precondition);
    }
  }
  return items;
}

std::vector<Item> keys(const CommandContext& /*context*/) {
  std::vector<Item> items;
  for (const KeyRow& key : key_rows()) {
    items.push_back({std::string(key.name), std::string(key.meaning), {}});
    auto& more = items.back().more;
    if (!key.choices.empty()) {
      more.emplace_back("values", fmt::format("{}", fmt::join(key.choices, ", ")));
    } else if (key.bounds.most == slots_of_the_case) {
      more.emplace_back("values", fmt::format("{} to slots", key.bounds.least));
    } else if (!key.is_name()) {
      more.emplace_back("values", fmt::format("{} to {}", key.bounds.least, key.bounds.most));
    }
    more.emplace_back("default", key_value(key, Settings{}));
  }
  return items;
}

std::vector<Item> kinds(const CommandContext& /*context*/) {
  std::vector<Item> items;
  for (const FindingKindRow& row : finding_kinds()) {
    items.push_back({std::string(row.name), std::string(row.objects_when), {}});
  }
  return items;
}

std::vector<Item> oracles(const CommandContext& /*context*/) {
  std::vector<Item> items;
  for (const OracleRow& row : oracle_rows()) {
    items.push_back({std::string(row.name), std::string(row.verifies), {}});
    items.back().more.emplace_back("does not verify", row.does_not_verify);
  }
  return items;
}

struct List {
  std::string_view name;
  std::vector<Item> (*items)(const CommandContext&);
};
constexpr std::array<List, 5> lists = {
    {{"caches", caches}, {"ops", ops}, {"oracles", oracles}, {"kinds", kinds}, {"keys", keys}}};

const List& find_list(const std::string& name) {
  std::vector<std::string_view> names;
  for (const List& list : lists) {
    if (list.name == name) return list;
    names.push_back(list.name);
  }
  const std::string_view nearest = nearest_word(name, names);
  const std::string meant = nearest.empty() ? "" : fmt::format("did you mean '{}'? ", nearest);
  throw BadInput(
      fmt::format("list: unknown list '{}'; {}There are {}", name, meant, fmt::join(names, ", ")));
}

std::string text_of(const std::vector<Item>& items, const Style& style) {
  std::string text;
  for (const Item& item : items) {
    text += style.bold(item.name) + "\n" + wrap(item.sentence, "    ", style.width);
    for (const auto& [label, more] : item.more) {
      text += style.dim(wrap(fmt::format("{}: {}", label, more), "    ", style.width));
    }
  }
  return text;
}

Json json_of(std::string_view name, const std::vector<Item>& items) {
  Json json = {{"format", "thaw-list"}, {"version", json_version}, {"list", name}};
  json["items"] = Json::array();
  for (const Item& item : items) {
    Json& row = json["items"].emplace_back(Json{{"name", item.name}, {"text", item.sentence}});
    for (const auto& [label, more] : item.more) row[label] = more;
  }
  return json;
}

struct ListCommand {
  std::string name;
  bool json = false;
};

}  // namespace

void add_list_command(CLI::App& app, CommandContext& context) {
  auto list = std::make_shared<ListCommand>();
  CLI::App* command = app.add_subcommand("list", "Caches, ops, oracles, kinds of finding, keys");
  command->add_option("WHAT", list->name, "caches, ops, oracles, kinds or keys")
      ->required()
      ->type_name("");
  command->add_flag("--json", list->json, "As one JSON document");
  command->footer(
      "Examples:\n"
      "  thaw list caches           what can be tested here\n"
      "  thaw list ops              the words of the case language\n"
      "  thaw list oracles --json   who judges, and what they do not see");
  command->callback([list, &context] {
    const List& chosen = find_list(list->name);
    const std::vector<Item> items = chosen.items(context);
    fmt::print("{}",
               list->json ? json_text(json_of(chosen.name, items)) : text_of(items, context.style));
  });
}

}  // namespace thaw
