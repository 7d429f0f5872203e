// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace thaw {

/// How a CounterCache keeps the position of a row.
enum class CounterMode {
  host_int,         ///< a C++ integer
  cpu_scalar,       ///< a 0-dim CPU tensor in a device expression
  device_rebind,    ///< a device tensor, `count = count + n`: a new one each step
  device_in_place,  ///< a device tensor, `count.add_(n)`
};

inline constexpr std::array counter_modes{CounterMode::host_int, CounterMode::cpu_scalar,
                                          CounterMode::device_rebind, CounterMode::device_in_place};

/// As the case language spells it after `counter:`.
constexpr std::string_view name_of(CounterMode mode) {
  constexpr std::array<std::string_view, counter_modes.size()> names{
      "host_int", "cpu_scalar", "device_rebind", "device_in_place"};
  return names[static_cast<size_t>(mode)];
}

}  // namespace thaw
