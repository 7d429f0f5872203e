// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "case/case.h"
#include "ledger/ledger.h"

/// Ops and ledgers as short as the language writes them.
namespace thaw::ops {

inline Op with_rows(OpKind kind, int64_t row, int64_t count = 0) {
  Op op;
  op.kind = kind;
  op.row = row;
  op.count = count;
  return op;
}

inline Op with_steps(OpKind kind, int64_t q, int64_t times, std::string graph = {}) {
  Op op;
  op.kind = kind;
  op.q = q;
  op.times = times;
  op.graph = std::move(graph);
  return op;
}

inline Op prefill(int64_t row, int64_t n) { return with_rows(OpKind::prefill, row, n); }
inline Op load(int64_t row, int64_t n) { return with_rows(OpKind::load, row, n); }
inline Op reset(int64_t row) { return with_rows(OpKind::reset, row); }
inline Op crop(int64_t row, int64_t length) { return with_rows(OpKind::crop, row, length); }
inline Op park(int64_t row) { return with_rows(OpKind::park, row); }
inline Op unpark(int64_t row) { return with_rows(OpKind::unpark, row); }
inline Op churn(int64_t n) { return with_rows(OpKind::churn, 0, n); }
inline Op decode(int64_t q = 1, int64_t times = 1) { return with_steps(OpKind::decode, q, times); }
inline Op serve(int64_t q = 1, int64_t times = 1) { return with_steps(OpKind::serve, q, times); }
inline Op warmup(int64_t q = 1, int64_t times = 1, int64_t bucket = 0) {
  Op op = with_steps(OpKind::warmup, q, times);
  op.bucket = bucket;
  return op;
}
inline Op capture(const std::string& graph, int64_t q = 1, int64_t bucket = 0,
                  const std::string& pool = {}) {
  Op op = with_steps(OpKind::capture, q, 1, graph);
  op.bucket = bucket;
  op.pool = pool;
  return op;
}
inline Op replay(const std::string& graph, int64_t times = 1) {
  return with_steps(OpKind::replay, 1, times, graph);
}
inline Op drop(const std::string& graph) { return with_steps(OpKind::drop, 1, 1, graph); }
inline Op hold() { return with_rows(OpKind::hold, 0); }
inline Op sleep() { return with_rows(OpKind::sleep, 0); }
inline Op reseed(int64_t seed) { return with_rows(OpKind::reseed, 0, seed); }
inline Op fail(int64_t call) { return with_rows(OpKind::fail, 0, call); }
inline Op reorder(std::vector<int64_t> order) {
  Op op;
  op.kind = OpKind::reorder;
  op.order = std::move(order);
  return op;
}
inline Op copy(int64_t from, int64_t to) {
  Op op;
  op.kind = OpKind::copy;
  op.row = from;
  op.to = to;
  return op;
}

inline Ledger ledger_of(int64_t rows, int64_t slots, Layout layout = Layout::linear) {
  Settings settings;
  settings.rows = rows;
  settings.slots = slots;
  return Ledger(settings, layout);
}

/// The ledger after ops 1, 2, ...
inline Ledger after(int64_t rows, int64_t slots, const std::vector<Op>& ops,
                    Layout layout = Layout::linear) {
  Ledger ledger = ledger_of(rows, slots, layout);
  int64_t number = 0;
  for (const Op& op : ops) ledger.apply(op, ++number);
  return ledger;
}

inline StepPlan plan_of(const Ledger& ledger, const Op& op) {
  StepPlan plan;
  ledger.plan(op, plan);
  return plan;
}

/// The generations of the committed entries of a row that are still there.
inline std::vector<int> generations(const Ledger& ledger, int64_t row) {
  std::vector<int> found;
  for (int64_t position = ledger.first_kept(row); position < ledger.length(row); ++position) {
    found.push_back(ledger.provenance(row, position).generation);
  }
  return found;
}

/// For which rows the committed entries of a row were written.
inline std::vector<int> written_for(const Ledger& ledger, int64_t row) {
  std::vector<int> found;
  for (int64_t position = ledger.first_kept(row); position < ledger.length(row); ++position) {
    found.push_back(ledger.provenance(row, position).row);
  }
  return found;
}

}  // namespace thaw::ops
