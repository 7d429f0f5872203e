// SPDX-License-Identifier: Apache-2.0
#include "cli/version.h"

#include <fmt/format.h>

namespace thaw {
namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
constexpr const char* compiler = "gcc " __VERSION__;
#else
constexpr const char* compiler = "unknown compiler";
#endif

}  // namespace

std::string version_text(const ProgramDevice& device) {
  std::string_view name = compiler;
  while (name.ends_with(' ')) name.remove_suffix(1);
  return fmt::format("{} {} ({}, {})", device.program, THAW_VERSION, device.libraries, name);
}

}  // namespace thaw
