// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "case/finding_kind.h"

namespace thaw {

/// The ops of the case language (docs/case-language.md, section 4). Their names, forms and
/// descriptions are in op_table.h.
enum class OpKind : uint8_t {
  prefill,
  load,
  decode,
  serve,
  warmup,
  capture,
  replay,
  drop,
  reset,
  crop,
  reorder,
  copy,
  park,
  unpark,
  hold,
  churn,
  sleep,
  reseed,
  fail,
};

/// What the op `fail` makes fail, as Op::count has it.
constexpr int64_t fail_capture = 0;
constexpr int64_t fail_replay = 1;

/// ROWS of an op: one row, or every row that meets the op's precondition (R3).
constexpr int64_t all_rows = -1;

/// Comments that belong to a line: whole lines above it and the end of the line itself, each
/// without its '#' and the blank behind it. They hold no line breaks.
struct Comments {
  std::vector<std::string> above;
  std::optional<std::string> beside;
  bool operator==(const Comments&) const = default;
};

/// Where a line or a word of it stands in the text, from 1; 0 where there is no text.
struct SourcePosition {
  int64_t line = 0;
  int64_t column = 0;
};

/// One op, with the fields that its kind uses; the others keep their defaults.
struct Op {
  OpKind kind = OpKind::decode;
  int64_t row = 0;  ///< ROWS, or FROM of copy; all_rows for `all`
  int64_t to = 0;   ///< TO of copy
  /// N of prefill, load, churn; L of crop; S of reseed; fail_capture or fail_replay of fail
  int64_t count = 0;
  int64_t q = 1;                    ///< q=Q of decode, serve, warmup, capture
  int64_t bucket = 0;               ///< rows=B of warmup, capture: rows 0 to B-1; 0: all rows
  int64_t times = 1;                ///< xN of decode, serve, warmup, replay
  std::string graph = {};           ///< G of capture, replay, drop
  std::string pool = {};            ///< pool=P of capture; empty: a pool of its own
  std::vector<int64_t> order = {};  ///< reorder: row i takes row order[i]
  bool operator==(const Op&) const = default;
};

/// `expect [CACHE] clean` or `expect [CACHE] KIND[@OP[.STEP]]`.
struct Expect {
  std::string cache = {};                ///< empty: the case's own
  std::optional<FindingKind> kind = {};  ///< empty: clean
  int64_t op = 0;                        ///< from 1; 0: anywhere
  int64_t step = 0;                      ///< from 1; 0: any step
  bool operator==(const Expect&) const = default;
};

enum class DecoderKind : uint8_t { tag, llama };
enum class DeviceChoice : uint8_t { any, sim, cuda };
enum class CaseDtype : uint8_t { fp32, fp16, bf16 };
/// When work runs that streams and events leave free (R21).
enum class CaseSchedule : uint8_t { early, late, shuffle };

/// The configuration of a case (section 2), with the language's defaults.
struct Settings {
  std::string cache = "static";
  DecoderKind decoder = DecoderKind::tag;
  DeviceChoice device = DeviceChoice::any;
  int64_t layers = 1;
  int64_t heads = 2;
  int64_t kv_heads = 1;
  int64_t dim = 16;
  int64_t rows = 1;
  int64_t slots = 16;
  int64_t window = 0;
  CaseDtype dtype = CaseDtype::fp32;
  CaseSchedule schedule = CaseSchedule::early;
  bool lazy = false;
  uint64_t seed = 1;
  bool operator==(const Settings&) const = default;
};

/// A line of a case: what it says, what was said about it, and where it stood.
template <class T>
struct Line {
  T value;
  Comments comments = {};
  SourcePosition position = {};
  /// The column of each word of the line, the first included, for messages about one of them;
  /// empty where there is no text.
  std::vector<int64_t> columns = {};
  bool operator==(const Line& other) const {
    return value == other.value && comments == other.comments;
  }
};

/// A configuration and a list of ops: the only input of a session. A value; nothing random is left
/// in it. Positions and columns do not take part in comparison.
struct Case {
  Settings settings;
  /// Comments of settings, by key, in the order in which normal form prints them: one entry for
  /// each setting that has a comment, even where its value is the default.
  std::vector<std::pair<std::string, Comments>> setting_comments;
  /// Above the first setting, and above whatever normal form prints first.
  std::vector<std::string> header_comments;
  std::vector<Line<Op>> ops;
  std::vector<Line<Expect>> expects;
  std::vector<std::string> closing_comments;  ///< below the last line
  bool operator==(const Case&) const = default;

  /// The largest q of any step, loads included: a cache is built for it.
  int64_t q_len_max() const;
  /// The q of one op's steps.
  static int64_t q_len_of(const Op& op);
};

}  // namespace thaw
