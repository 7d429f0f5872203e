// SPDX-License-Identifier: Apache-2.0
//
// How long `thaw --version` takes, as a person waits for it: wall time of the whole process. Nearly
// all of it is LibTorch's own start.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace thaw {
namespace {

bool run_silently(const char* program, const char* argument) {
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::array<char*, 3> arguments{const_cast<char*>(program), const_cast<char*>(argument), nullptr};
  pid_t child = 0;
  const int failed = posix_spawn(&child, program, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && status == 0;
}

void start_of_thaw_version(benchmark::State& state) {
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    if (!run_silently(THAW_PROGRAM, "--version")) state.SkipWithError("thaw --version failed");
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}
BENCHMARK(start_of_thaw_version)->UseManualTime()->Iterations(15)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace thaw
