// SPDX-License-Identifier: Apache-2.0
#include "report/style.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace thaw {
namespace {

constexpr int narrowest = 60;

bool terminal_has_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && *terminal != '\0' && std::string_view(terminal) != "dumb";
}

}  // namespace

Style Style::of_standard_output() {
  Style style;
  if (isatty(STDOUT_FILENO) == 0) return style;
  style.colour = terminal_has_colour();
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::clamp<int>(size.ws_col, narrowest, width_max);
  }
  return style;
}

std::string Style::with(std::string_view code, std::string_view text) const {
  if (!colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace thaw
