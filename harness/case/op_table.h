// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "case/case.h"

namespace thaw {

/// The words of the case language, once: parser, printer, help, error texts, generators and the
/// tables of docs/case-language.md are made from these rows. A new op, key or modifier is a row.

/// Limits of a case as a whole (docs/case-language.md, section 1).
constexpr int64_t case_version = 1;
constexpr size_t text_bytes_max = size_t{64} << 20;
constexpr size_t line_bytes_max = 8192;
constexpr size_t comment_bytes_max = 4096;
constexpr size_t name_length_max = 32;
constexpr int64_t ops_max = 1'000'000;
constexpr int64_t steps_max = 10'000'000;

/// Upper bounds that are the case's own number of slots, and of rows.
constexpr int64_t slots_of_the_case = -1;
constexpr int64_t rows_of_the_case = -2;

/// The values that a number may have, both ends included.
struct Bounds {
  int64_t least = 0;
  int64_t most = 0;  ///< or slots_of_the_case, rows_of_the_case
};
/// With the case's own number in place of its name.
Bounds resolved(Bounds bounds, int64_t rows, int64_t slots);

enum class OpArgumentKind : uint8_t {
  rows,    ///< ROWS: a row, or `all`; fills `field`
  row,     ///< one row; fills `field`
  order,   ///< one row for every row of the case; fills Op::order
  number,  ///< within `bounds`; fills `field`
  graph,   ///< a name; fills Op::graph
  choice,  ///< one of `choices`; fills `field` with its index
};

struct OpArgument {
  OpArgumentKind kind;
  std::string_view word;         ///< as in the op's form, "ROWS"
  int64_t Op::*field = nullptr;  ///< of rows, row, number and choice
  Bounds bounds = {};            ///< of number
  std::span<const std::string_view> choices = {};
};

/// `q=Q`, `rows=B`, `pool=P` or `xN`: may be left out.
struct Modifier {
  std::string_view prefix;       ///< "q=" or "x"
  std::string_view name;         ///< "q" or "x"
  std::string_view word;         ///< as in the op's form, "Q" or "N"
  int64_t Op::*field = nullptr;  ///< nullptr: a name, which fills Op::pool
  Bounds bounds = {};
  int64_t left_out = 1;  ///< what `field` is without it
  /// What it counts, for messages to those who write a bare number: "step", "steps". Empty: no
  /// bare number means it.
  std::string_view counts_one = {}, counts_many = {};

  bool is_name() const { return field == nullptr; }
};

struct OpRow {
  OpKind kind;
  std::string_view name;
  std::span<const OpArgument> arguments;
  std::span<const Modifier> modifiers;  ///< in the order of normal form
  bool makes_steps;                     ///< Op::times of them
  std::string_view precondition;
  std::string_view description;  ///< one sentence
  /// Words that people use for it elsewhere, for suggestions.
  std::span<const std::string_view> also_called;
};

/// The ops, in the order of OpKind.
std::span<const OpRow> op_rows();
const OpRow& op_row(OpKind kind);
/// nullptr where no op has this name.
const OpRow* find_op(std::string_view name);
std::string_view to_string(OpKind kind);

/// The form of an op: "decode [q=Q] [xN]".
std::string op_form(const OpRow& row);
/// The bounds of the numbers in it: "Q 1 to 4096, N 1 to 1000000"; empty where it has none.
std::string op_bounds(const OpRow& row);

/// A setting. Its value is a number in `bounds`, or one of `choices` (handled as its index), or,
/// for the key `cache` alone, a name.
struct KeyRow {
  std::string_view name;
  std::span<const std::string_view> choices;  ///< empty: a number or a name
  Bounds bounds;
  int64_t (*get)(const Settings&);  ///< nullptr: the name of a cache
  void (*set)(Settings&, int64_t);
  std::string_view meaning;  ///< one sentence

  bool is_name() const { return get == nullptr; }
};

/// The keys, in the order of normal form.
constexpr size_t key_count = 14;
std::span<const KeyRow, key_count> key_rows();
/// nullptr where no key has this name.
const KeyRow* find_key(std::string_view name);
bool is_default(const KeyRow& key, const Settings& settings);
/// What a value may be: "1 to 4096", "any, sim, cuda", "the name of a cache".
std::string key_values(const KeyRow& key);
/// The value of a key as it is written in a case.
std::string key_value(const KeyRow& key, const Settings& settings);

/// Ops, keys, kinds, `all` and `clean`: no graph, pool or cache is called so.
bool is_reserved(std::string_view word);

}  // namespace thaw
