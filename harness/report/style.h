// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace thaw {

/// How text for people is laid out. Reports say everything without colour, too.
struct Style {
  static constexpr int width_max = 100;

  bool colour = false;
  int width = width_max;  ///< columns

  /// Colour and width of standard output: colour only on a terminal that has it, and never where
  /// NO_COLOR is set to anything.
  static Style of_standard_output();

  std::string bold(std::string_view text) const { return with("1", text); }
  std::string dim(std::string_view text) const { return with("2", text); }
  std::string good(std::string_view text) const { return with("32", text); }
  std::string bad(std::string_view text) const { return with("1;31", text); }
  std::string doubtful(std::string_view text) const { return with("33", text); }

 private:
  std::string with(std::string_view code, std::string_view text) const;
};

}  // namespace thaw
