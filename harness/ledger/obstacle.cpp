// SPDX-License-Identifier: Apache-2.0
#include "ledger/obstacle.h"

#include <fmt/format.h>

#include "case/op_table.h"
#include "ledger/ledger.h"

namespace thaw {
namespace {

/// "row 0 idle, row 1 parked with length 3".
std::string rows_now(const Ledger& ledger) {
  std::string text;
  for (int64_t row = 0; row < ledger.rows(); ++row) {
    if (row > 0) text += ", ";
    const RowState state = ledger.state().rows[static_cast<size_t>(row)].state;
    text += fmt::format("row {} ", row);
    if (state == RowState::idle) {
      text += "idle";
    } else {
      text += fmt::format("{} with length {}", state == RowState::live ? "live" : "parked",
                          ledger.length(row));
    }
  }
  return text;
}

std::string graphs_now(const Ledger& ledger) {
  std::string text;
  for (const LedgerState::Graph& graph : ledger.state().graphs) {
    if (!text.empty()) text += ", ";
    text += graph.name;
  }
  return text.empty() ? "none" : text;
}

std::string count_out_of_bounds(const Op& op, const Obstacle& obstacle) {
  const OpArgument& argument = op_row(op.kind).arguments[static_cast<size_t>(obstacle.word - 1)];
  return fmt::format("{} must be {} to {}, found {}", argument.word, obstacle.least, obstacle.most,
                     op.*argument.field);
}

std::string no_such_row(const Ledger& ledger, int64_t row) {
  return fmt::format("row must be 0 to {}, found {}; the case has {} row{} ('rows' sets how many)",
                     ledger.rows() - 1, row, ledger.rows(), ledger.rows() == 1 ? "" : "s");
}

/// Which rows `all` looked for, and what puts a row into that state.
std::string no_row_for_all(const Ledger& ledger, const Op& op) {
  std::string wanted;
  std::string remedy;
  switch (op.kind) {
    case OpKind::crop:
      wanted = fmt::format("live with length {} or more", op.count);
      remedy = "take a smaller L or make a row longer first";
      break;
    case OpKind::park:
      wanted = "live";
      remedy = "'prefill ROWS N' or 'unpark ROWS' first";
      break;
    case OpKind::unpark:
      wanted = "parked";
      remedy = "'park ROWS' first";
      break;
    default:
      wanted = "idle or live";
      remedy = "'unpark ROWS' first";
      break;
  }
  return fmt::format("'all' finds no row that is {} ({}); {}", wanted, rows_now(ledger), remedy);
}

std::string what_and_remedy(const Ledger& ledger, const Op& op, const Obstacle& obstacle,
                            std::string_view since) {
  const int64_t row = obstacle.row;
  switch (obstacle.kind) {
    case Obstacle::Kind::count_out_of_bounds:
      return count_out_of_bounds(op, obstacle);
    case Obstacle::Kind::no_such_row:
      return no_such_row(ledger, row);
    case Obstacle::Kind::row_is_idle:
      return fmt::format("row {0} is idle here, it has no sequence; 'prefill {0} N' first", row);
    case Obstacle::Kind::row_is_parked:
      return fmt::format("row {0} is parked{1}; 'unpark {0}' first", row, since);
    case Obstacle::Kind::row_is_not_parked:
      return fmt::format("row {} is not parked here ({}); take a parked row", row,
                         rows_now(ledger));
    case Obstacle::Kind::row_is_shorter:
      return fmt::format("row {0} has length {1} here, cannot crop to {2} (L at most {1})", row,
                         obstacle.most, op.count);
    case Obstacle::Kind::row_has_evicted:
      return fmt::format(
          "row {} has length {} here and {} slots, so its first entries are gone; "
          "crop before the row is full",
          row, ledger.length(row), obstacle.most);
    case Obstacle::Kind::warmup_evicts:
      return fmt::format(
          "row {} has length {} here and {} slots, so a pass of {} would evict entries, which "
          "cannot be undone; warm up before the row is full",
          row, ledger.length(row), obstacle.most, op.q);
    case Obstacle::Kind::no_row_for_all:
      return no_row_for_all(ledger, op);
    case Obstacle::Kind::no_live_row:
      return fmt::format("no live row here ({}); 'prefill ROWS N' or 'unpark ROWS' first",
                         rows_now(ledger));
    case Obstacle::Kind::same_row:
      return fmt::format("row {} onto itself; FROM and TO must be different rows", row);
    case Obstacle::Kind::wrong_row_count:
      return fmt::format("{} row numbers for {} rows; one for each row", op.order.size(),
                         ledger.rows());
    case Obstacle::Kind::graph_exists:
      return fmt::format("graph '{0}' exists{1}; 'drop {0}' first or take another name", op.graph,
                         since);
    case Obstacle::Kind::no_such_graph:
      return fmt::format("no graph '{}' here; captured so far: {}", op.graph, graphs_now(ledger));
    case Obstacle::Kind::no_such_bucket:
      return fmt::format("rows must be {} to {}, found {}", obstacle.least, obstacle.most,
                         op.bucket);
    case Obstacle::Kind::no_step_yet:
      return "no step was made yet, so there is nothing to keep; 'prefill ROWS N' first";
    case Obstacle::Kind::armed_already:
      return fmt::format("the next {} fails already{}; '{}' first",
                         op.count == fail_capture ? "capture" : "replay", since,
                         op.count == fail_capture ? "capture G" : "replay G");
  }
  return {};
}

}  // namespace

std::string explain(const Ledger& ledger, const Op& op, const Obstacle& obstacle,
                    std::string_view since) {
  return fmt::format("{}: {}", to_string(op.kind), what_and_remedy(ledger, op, obstacle, since));
}

}  // namespace thaw
