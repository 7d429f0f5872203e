// SPDX-License-Identifier: Apache-2.0
#include "cli/device_option.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace thaw {
namespace {

namespace fs = std::filesystem;

struct Sibling {
  std::string_view device;
  std::string_view program;
  std::string_view remedy;  ///< what to do if it is not there
};
constexpr std::array<Sibling, 2> siblings = {{
    {"sim", "thaw", "it is built by './dev reproduce'; run it without --device sim"},
    {"cuda", "thaw-cuda",
     "it is built where a CUDA toolkit is installed (THAW_CUDA, docs/building.md); without "
     "--device cuda the case runs on the simulated device"},
}};

const Sibling& find_sibling(const std::string& device) {
  for (const Sibling& sibling : siblings) {
    if (sibling.device == device) return sibling;
  }
  throw BadInput(fmt::format("--device: unknown device '{}'; one of sim, cuda", device));
}

/// Both programs lie in one folder.
[[noreturn]] void run_instead(const Sibling& sibling, const std::vector<std::string>& arguments) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const std::string program = (folder / sibling.program).string();
  std::vector<std::string> words(arguments);
  words.front() = program;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  if (!error) execv(program.c_str(), pointers.data());
  if (error || errno == ENOENT) {
    throw BadInput(fmt::format("--device {}: there is no program {} beside this one; {}",
                               sibling.device, sibling.program, sibling.remedy));
  }
  throw BadInput(fmt::format("--device {}: {} cannot be run: {}; {}", sibling.device, program,
                             std::strerror(errno), sibling.remedy));
}

}  // namespace

void add_device_option(CLI::App& command, const CommandContext& context) {
  command
      .add_option_function<std::string>(
          "--device",
          [&context](const std::string& name) {
            const Sibling& wanted = find_sibling(name);
            if (wanted.device != context.program.name) run_instead(wanted, context.arguments);
          },
          "Where cases run: the simulated device, or a GPU (program thaw-cuda)")
      ->type_name("sim|cuda");
}

}  // namespace thaw
