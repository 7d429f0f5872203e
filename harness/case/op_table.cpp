// SPDX-License-Identifier: Apache-2.0
#include "case/op_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace thaw {
namespace {

using enum OpArgumentKind;

constexpr OpArgument rows_argument{rows, "ROWS", &Op::row};
constexpr OpArgument graph_argument{graph, "G"};

constexpr std::array only_rows{rows_argument};
constexpr std::array only_graph{graph_argument};
constexpr std::array prompt{rows_argument, OpArgument{number, "N", &Op::count, {1, 4096}}};
constexpr std::array loaded{rows_argument,
                            OpArgument{number, "N", &Op::count, {1, slots_of_the_case}}};
constexpr std::array kept{rows_argument,
                          OpArgument{number, "LENGTH", &Op::count, {0, slots_of_the_case}}};
constexpr std::array new_order{OpArgument{order, "ROW"}};
constexpr std::array from_to{OpArgument{row, "FROM", &Op::row}, OpArgument{row, "TO", &Op::to}};
constexpr std::array blocks{OpArgument{number, "N", &Op::count, {0, 64}}};

constexpr int64_t largest = std::numeric_limits<int64_t>::max();
constexpr std::array seeds{OpArgument{number, "S", &Op::count, {0, largest}}};
constexpr std::array<std::string_view, 2> calls{"capture", "replay"};
constexpr std::array failing{OpArgument{choice, "CALL", &Op::count, {}, calls}};

constexpr Modifier query{"q=", "q", "Q", &Op::q, {1, 4096}, 1, "token in one", "tokens in one"};
constexpr Modifier bucket{"rows=", "rows", "B", &Op::bucket, {1, rows_of_the_case}, 0};
constexpr Modifier pool{"pool=", "pool", "P"};
constexpr Modifier times{"x", "x", "N", &Op::times, {1, 1'000'000}, 1, "step", "steps"};
constexpr std::array recording{query, bucket, pool};
constexpr std::array warming{query, bucket, times};
constexpr std::array only_times{times};
constexpr std::array query_and_times{query, times};

constexpr std::array<std::string_view, 2> like_prefill{"prompt", "extend"};
constexpr std::array<std::string_view, 2> like_load{"restore", "import"};
constexpr std::array<std::string_view, 3> like_decode{"step", "generate", "forward"};
constexpr std::array<std::string_view, 2> like_serve{"dispatch", "schedule_step"};
constexpr std::array<std::string_view, 2> like_warmup{"warm", "dummy"};
constexpr std::array<std::string_view, 2> like_capture{"record", "graph"};
constexpr std::array<std::string_view, 2> like_replay{"launch", "run"};
constexpr std::array<std::string_view, 2> like_drop{"destroy", "delete"};
constexpr std::array<std::string_view, 3> like_reset{"clear", "free", "evict"};
constexpr std::array<std::string_view, 3> like_crop{"rollback", "truncate", "trim"};
constexpr std::array<std::string_view, 3> like_reorder{"beam", "permute", "gather"};
constexpr std::array<std::string_view, 2> like_copy{"fork", "clone"};
constexpr std::array<std::string_view, 3> like_park{"pause", "preempt", "suspend"};
constexpr std::array<std::string_view, 2> like_unpark{"resume", "continue"};
constexpr std::array<std::string_view, 2> like_hold{"keep", "retain"};
constexpr std::array<std::string_view, 2> like_churn{"allocate", "malloc"};
constexpr std::array<std::string_view, 3> like_sleep{"wake", "offload", "hibernate"};
constexpr std::array<std::string_view, 2> like_reseed{"manual_seed", "set_seed"};
constexpr std::array<std::string_view, 2> like_fail{"inject", "break"};

constexpr std::array op_table{
    OpRow{
        OpKind::prefill,
        "prefill",
        prompt,
        {},
        true,
        "the rows are not parked",
        "The rows become live and take one eager step with N tokens each; a live row is extended.",
        like_prefill},
    OpRow{OpKind::load,
          "load",
          loaded,
          {},
          false,
          "the rows are not parked",
          "The rows become live with N entries that were copied in from outside, without a step; "
          "what "
          "they held before is gone.",
          like_load},
    OpRow{OpKind::decode,
          "decode",
          {},
          query_and_times,
          true,
          "a live row",
          "The live rows take N eager steps with Q tokens each.",
          like_decode},
    OpRow{OpKind::serve,
          "serve",
          {},
          query_and_times,
          true,
          "a live row",
          "The live rows take N steps with Q tokens each as a server makes them: by the smallest "
          "graph with this Q whose bucket holds them all, or eagerly if there is none.",
          like_serve},
    OpRow{OpKind::warmup,
          "warmup",
          {},
          warming,
          true,
          "",
          "N eager passes with Q tokens over the rows below B that commit nothing: lengths stay, "
          "and what they wrote is nobody's.",
          like_warmup},
    OpRow{OpKind::capture, "capture", only_graph, recording, false, "no graph has the name G",
          "Records the step with Q tokens over the rows below B as graph G, in memory shared with "
          "the graphs of pool P, and commits nothing.",
          like_capture},
    OpRow{OpKind::replay, "replay", only_graph, only_times, true, "graph G exists",
          "Launches graph G N times: N steps of those rows below its B that are live now.",
          like_replay},
    OpRow{OpKind::drop,
          "drop",
          only_graph,
          {},
          false,
          "graph G exists",
          "Destroys graph G; its name is free again.",
          like_drop},
    OpRow{OpKind::reset,
          "reset",
          only_rows,
          {},
          false,
          "",
          "The rows become idle, with length 0.",
          like_reset},
    OpRow{OpKind::crop,
          "crop",
          kept,
          {},
          false,
          "the rows are live, with length at least LENGTH",
          "Keeps the first LENGTH entries of the rows, as after a rejected draft.",
          like_crop},
    OpRow{OpKind::reorder,
          "reorder",
          new_order,
          {},
          false,
          "",
          "Row i takes state, length and entries of the old row named in place i, as beams do; one "
          "row number for every row, repeats allowed.",
          like_reorder},
    OpRow{OpKind::copy,
          "copy",
          from_to,
          {},
          false,
          "FROM and TO differ; FROM is not idle, TO is not parked",
          "Row TO becomes live with the length and the entries of row FROM.",
          like_copy},
    OpRow{OpKind::park,
          "park",
          only_rows,
          {},
          false,
          "the rows are live",
          "The rows keep their entries and leave the batch: steps pad their places.",
          like_park},
    OpRow{OpKind::unpark,
          "unpark",
          only_rows,
          {},
          false,
          "the rows are parked",
          "The rows come back into the batch.",
          like_unpark},
    OpRow{OpKind::hold,
          "hold",
          {},
          {},
          false,
          "a step was made",
          "The caller keeps what the last step returned; it must not change any more.",
          like_hold},
    OpRow{OpKind::churn,
          "churn",
          blocks,
          {},
          false,
          "",
          "Frees what the last churn took, then takes N blocks of every size that the case has "
          "freed or the cache owns, fills them with a canary and keeps them.",
          like_churn},
    OpRow{OpKind::sleep,
          "sleep",
          {},
          {},
          false,
          "",
          "All rows become idle; keys, values and the memory of graph pools lose their contents "
          "and keep their addresses; then the cache wakes.",
          like_sleep},
    OpRow{OpKind::reseed,
          "reseed",
          seeds,
          {},
          false,
          "",
          "The device's random generator begins anew from seed S.",
          like_reseed},
    OpRow{OpKind::fail,
          "fail",
          failing,
          {},
          false,
          "it is not armed already",
          "The next capture, or the next launch of a graph by replay or serve, returns error 2 and "
          "does nothing; the caller goes on eagerly.",
          like_fail},
};

constexpr bool op_table_follows_the_enumeration() {
  for (size_t i = 0; i < op_table.size(); ++i) {
    if (static_cast<size_t>(op_table[i].kind) != i) return false;
  }
  return true;
}
static_assert(op_table_follows_the_enumeration());

constexpr std::array<std::string_view, 2> decoders{"tag", "llama"};
constexpr std::array<std::string_view, 3> devices{"any", "sim", "cuda"};
constexpr std::array<std::string_view, 3> dtypes{"fp32", "fp16", "bf16"};
constexpr std::array<std::string_view, 3> schedules{"early", "late", "shuffle"};
constexpr std::array<std::string_view, 2> off_and_on{"off", "on"};

template <auto Member>
int64_t get_field(const Settings& settings) {
  return static_cast<int64_t>(settings.*Member);
}

template <auto Member>
void set_field(Settings& settings, int64_t value) {
  settings.*Member = static_cast<std::remove_reference_t<decltype(settings.*Member)>>(value);
}

template <auto Member>
constexpr KeyRow number_key(std::string_view name, Bounds bounds, std::string_view meaning) {
  return {name, {}, bounds, get_field<Member>, set_field<Member>, meaning};
}

template <auto Member>
constexpr KeyRow choice_key(std::string_view name, std::span<const std::string_view> choices,
                            std::string_view meaning) {
  return {name, choices, {}, get_field<Member>, set_field<Member>, meaning};
}

constexpr std::array<KeyRow, key_count> key_table{
    KeyRow{"cache",
           {},
           {},
           nullptr,
           nullptr,
           "the cache that is tested: 'static', 'counter:MODE', or another registered name; "
           "'counter' alone is 'counter:host_int'"},
    choice_key<&Settings::decoder>("decoder", decoders, "what the captured step computes"),
    choice_key<&Settings::device>(
        "device", devices,
        "where the case can be judged; on another device it is skipped by name, which is "
        "incomplete and not clean"),
    number_key<&Settings::layers>("layers", {1, 16}, "layers of the decoder"),
    number_key<&Settings::heads>("heads", {1, 16}, "query heads, a multiple of 'kv_heads'"),
    number_key<&Settings::kv_heads>("kv_heads", {1, 16}, "heads of keys and values"),
    number_key<&Settings::dim>(
        "dim", {2, 256},
        "elements of one head: at least 12 with the decoder 'tag', even with 'llama'"),
    number_key<&Settings::rows>("rows", {1, 16}, "rows of the cache, and places of a step"),
    number_key<&Settings::slots>("slots", {1, 4096}, "slots of each row"),
    number_key<&Settings::window>(
        "window", {0, slots_of_the_case},
        "positions that attention sees, the last of a row; 0: all. For a cache whose rows are "
        "rings, or shift, it is the number of slots"),
    choice_key<&Settings::dtype>("dtype", dtypes, "element type of keys and values"),
    choice_key<&Settings::schedule>(
        "schedule", schedules,
        "when work that streams and events leave free is done: at once, as late as allowed, or in "
        "a legal order drawn from 'seed'"),
    choice_key<&Settings::lazy>(
        "lazy", off_and_on,
        "state of libraries is made at first use, which a device refuses inside a capture"),
    number_key<&Settings::seed>("seed", {0, largest},
                                "what tokens, weights and shuffled schedules are drawn from"),
};

std::string range(Bounds bounds) {
  const std::string most = bounds.most == slots_of_the_case  ? "slots"
                           : bounds.most == rows_of_the_case ? "rows"
                                                             : std::to_string(bounds.most);
  return std::to_string(bounds.least) + " to " + most;
}

}  // namespace

Bounds resolved(Bounds bounds, int64_t rows, int64_t slots) {
  if (bounds.most == slots_of_the_case) bounds.most = slots;
  if (bounds.most == rows_of_the_case) bounds.most = rows;
  return bounds;
}

std::span<const OpRow> op_rows() { return op_table; }

const OpRow& op_row(OpKind kind) { return op_table[static_cast<size_t>(kind)]; }

const OpRow* find_op(std::string_view name) {
  const auto* found = std::find_if(op_table.begin(), op_table.end(),
                                   [&](const OpRow& row) { return row.name == name; });
  return found == op_table.end() ? nullptr : found;
}

std::string_view to_string(OpKind kind) { return op_row(kind).name; }

std::string op_form(const OpRow& row) {
  std::string form(row.name);
  for (const OpArgument& argument : row.arguments) {
    form.append(" ").append(argument.word);
    if (argument.kind == order) form.append(" ").append(argument.word).append(" ...");
  }
  for (const Modifier& modifier : row.modifiers) {
    form.append(" [").append(modifier.prefix).append(modifier.word).append("]");
  }
  return form;
}

std::string op_bounds(const OpRow& row) {
  std::string text;
  const auto add = [&](std::string_view word, Bounds bounds) {
    text.append(text.empty() ? "" : ", ").append(word).append(" ").append(range(bounds));
  };
  for (const OpArgument& argument : row.arguments) {
    if (argument.kind == number) add(argument.word, argument.bounds);
    if (argument.kind == choice) {
      text += fmt::format("{} {}", argument.word, fmt::join(argument.choices, " or "));
    }
  }
  for (const Modifier& modifier : row.modifiers) {
    if (!modifier.is_name()) add(modifier.word, modifier.bounds);
  }
  return text;
}

std::span<const KeyRow, key_count> key_rows() { return key_table; }

const KeyRow* find_key(std::string_view name) {
  const auto* found = std::find_if(key_table.begin(), key_table.end(),
                                   [&](const KeyRow& row) { return row.name == name; });
  return found == key_table.end() ? nullptr : found;
}

bool is_default(const KeyRow& key, const Settings& settings) {
  static const Settings defaults;
  return key.is_name() ? settings.cache == defaults.cache : key.get(settings) == key.get(defaults);
}

std::string key_values(const KeyRow& key) {
  if (key.is_name()) return "the name of a cache";
  if (key.choices.empty()) return range(key.bounds);
  std::string text(key.choices.front());
  for (const std::string_view choice : key.choices.subspan(1)) text.append(", ").append(choice);
  return text;
}

std::string key_value(const KeyRow& key, const Settings& settings) {
  if (key.is_name()) return settings.cache;
  const int64_t value = key.get(settings);
  return key.choices.empty() ? std::to_string(value)
                             : std::string(key.choices[static_cast<size_t>(value)]);
}

bool is_reserved(std::string_view word) {
  return word == "all" || word == "clean" || find_op(word) != nullptr ||
         find_key(word) != nullptr || parse_finding_kind(word).has_value();
}

}  // namespace thaw
