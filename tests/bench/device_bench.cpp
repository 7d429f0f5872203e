// SPDX-License-Identifier: Apache-2.0

#include <ATen/ops/empty.h>
#include <benchmark/benchmark.h>

#include <ctime>

#include "device/sim/sim_device.h"

namespace thaw {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Only the reset is timed: many of them cost less than stopping benchmark's own clock once.
void device_reset(benchmark::State& state) {
  SimDevice device;
  const auto options = at::TensorOptions().dtype(at::kByte).device(device.torch_device());
  const int64_t bytes = state.range(0) * 1024;
  for (auto _ : state) {
    at::empty({bytes}, options);
    const double start = thread_seconds();
    device.reset();
    state.SetIterationTime(thread_seconds() - start);
  }
}
BENCHMARK(device_reset)->ArgName("KiB")->Arg(4)->Arg(64)->Arg(1024)->UseManualTime();

/// What the two clock readings around a reset cost by themselves.
void clock_readings(benchmark::State& state) {
  for (auto _ : state) {
    const double start = thread_seconds();
    state.SetIterationTime(thread_seconds() - start);
  }
}
BENCHMARK(clock_readings)->UseManualTime();

}  // namespace
}  // namespace thaw
