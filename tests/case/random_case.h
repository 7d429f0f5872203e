// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "case/case.h"

namespace thaw {

/// Draws the texts of cases that parse, of any shape that the grammar allows: odd blanks, comments
/// in every place, defaults written out, expects anywhere. Their preconditions need not hold.
class RandomCaseText {
 public:
  explicit RandomCaseText(uint64_t seed) : random_(seed) {}

  std::string draw();

 private:
  int64_t number(int64_t least, int64_t most);
  bool chance(int64_t one_in) { return number(1, one_in) == 1; }
  std::string blanks();
  std::string comment();
  std::string name();
  std::string cache();
  std::string setting_value(size_t key, const Settings& settings);
  std::string op_words();
  std::string expect_words();
  void add_line(const std::string& words);
  void maybe_expect();

  std::mt19937_64 random_;
  Settings settings_;
  std::string text_;
  std::string line_end_;
};

}  // namespace thaw
