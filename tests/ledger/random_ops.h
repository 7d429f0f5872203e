// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "ledger/ops.h"

namespace thaw {

/// Ops drawn from one seed, about as often invalid as not: rows that do not exist, `all` that
/// matches none, graphs that were never captured, counts past every bound.
class RandomOps {
 public:
  explicit RandomOps(uint64_t seed) : engine_(seed) {}

  /// Both ends included.
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(engine_() % static_cast<uint64_t>(most - least + 1));
  }

  Op op(int64_t rows, int64_t slots) {
    switch (static_cast<OpKind>(between(0, 18))) {
      case OpKind::prefill:
        return ops::prefill(row_or_all(rows), between(0, 6));
      case OpKind::load:
        return ops::load(row_or_all(rows), between(0, slots + 1));
      case OpKind::decode:
        return ops::decode(between(1, 4), between(1, 3));
      case OpKind::serve:
        return ops::serve(between(1, 4), between(1, 3));
      case OpKind::warmup:
        return ops::warmup(between(1, 4), between(1, 3), bucket(rows));
      case OpKind::capture:
        return ops::capture(graph(), between(1, 4), bucket(rows));
      case OpKind::replay:
        return ops::replay(graph(), between(1, 3));
      case OpKind::drop:
        return ops::drop(graph());
      case OpKind::reset:
        return ops::reset(row_or_all(rows));
      case OpKind::crop:
        return ops::crop(row_or_all(rows), between(0, slots + 1));
      case OpKind::reorder:
        return ops::reorder(order(rows));
      case OpKind::copy:
        return ops::copy(row(rows), row(rows));
      case OpKind::park:
        return ops::park(row_or_all(rows));
      case OpKind::unpark:
        return ops::unpark(row_or_all(rows));
      case OpKind::hold:
        return ops::hold();
      case OpKind::sleep:
        return between(0, 5) == 0 ? ops::sleep() : ops::reset(row_or_all(rows));
      case OpKind::reseed:
        return ops::reseed(between(0, 5));
      case OpKind::fail:
        return ops::fail(between(0, 1));
      case OpKind::churn:
        break;
    }
    return ops::churn(between(0, 66));
  }

 private:
  int64_t row(int64_t rows) { return between(0, 9) == 0 ? rows : between(0, rows - 1); }
  int64_t row_or_all(int64_t rows) { return between(0, 4) == 0 ? all_rows : row(rows); }
  int64_t bucket(int64_t rows) { return between(0, 1) == 0 ? 0 : between(1, rows + 1); }
  std::string graph() { return std::string(1, static_cast<char>('a' + between(0, 2))); }
  std::vector<int64_t> order(int64_t rows) {
    std::vector<int64_t> rows_named(static_cast<size_t>(between(0, 9) == 0 ? rows + 1 : rows));
    for (int64_t& named : rows_named) named = between(0, 19) == 0 ? rows : between(0, rows - 1);
    return rows_named;
  }

  std::mt19937_64 engine_;
};

}  // namespace thaw
