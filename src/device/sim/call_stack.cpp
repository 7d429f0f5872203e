// SPDX-License-Identifier: Apache-2.0
#include "device/sim/call_stack.h"

#include <c10/util/Backtrace.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace thaw::sim {
namespace {

constexpr size_t frames_max = 128;

/// "frame #3: thaw::StaticCache::update(long) + 0x1f (0x55d0 in ./thaw)" to the function alone.
std::string_view function_of(std::string_view line) {
  const size_t begin = line.find(": ");
  const size_t end = line.rfind(" + 0x");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return line.substr(begin + 2, end - begin - 2);
}

/// The name without its arguments, which may name anything.
std::string_view name_of(std::string_view function) {
  return function.substr(0, function.find('('));
}

bool is_of_interest(std::string_view function) {
  constexpr std::array<std::string_view, 7> others = {
      "c10::", "at::", "torch::", "std::", "thaw::sim::", "<unknown", "_start"};
  const std::string_view name = name_of(function);
  return !name.empty() && std::none_of(others.begin(), others.end(), [&](std::string_view other) {
    return name.find(other) != std::string_view::npos;
  });
}

}  // namespace

std::vector<std::string> call_stack() {
  const std::string text = c10::get_backtrace(1, frames_max, true);
  std::vector<std::string> functions;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view function = function_of(rest.substr(0, end));
    if (is_of_interest(function)) functions.emplace_back(function);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return functions;
}

}  // namespace thaw::sim
