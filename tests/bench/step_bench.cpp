// SPDX-License-Identifier: Apache-2.0
//
// The captured step: 1 layer, 2 rows, 2 query heads over 1 kv head, 16 slots, dim 16.

#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "subject/registry.h"

namespace thaw {
namespace {

const StepPlan plan{.q_len = 1, .rows = {0, 1}, .positions = {5, 7}};

std::unique_ptr<Subject> make_subject(SimDevice& device, Kernels kernels) {
  const Case c = parse_case("thaw case 1\nrows 2\ndecode\n", "bench");
  auto subject = Registry::standard().find("static")->make(device, c, kernels);
  subject->refill(plan, 1);
  return subject;
}

void eager_step(benchmark::State& state, Kernels kernels) {
  const c10::InferenceMode no_autograd;
  SimDevice device;
  const auto subject = make_subject(device, kernels);
  for (auto _ : state) subject->step();
}

void replayed_step(benchmark::State& state, Kernels kernels) {
  const c10::InferenceMode no_autograd;
  SimDevice device;
  const auto subject = make_subject(device, kernels);
  subject->step();
  subject->capture("g", "");
  for (auto _ : state) subject->replay("g");
  state.counters["nodes"] = static_cast<double>(subject->graphs().front().graph->node_count());
}

void captured_step(benchmark::State& state, Kernels kernels) {
  const c10::InferenceMode no_autograd;
  SimDevice device;
  const auto subject = make_subject(device, kernels);
  subject->step();
  for (auto _ : state) {
    subject->capture("g", "");
    subject->drop("g");
  }
}

BENCHMARK_CAPTURE(eager_step, registered, Kernels::registered);
BENCHMARK_CAPTURE(eager_step, torch, Kernels::torch);
BENCHMARK_CAPTURE(replayed_step, registered, Kernels::registered);
BENCHMARK_CAPTURE(replayed_step, torch, Kernels::torch);
BENCHMARK_CAPTURE(captured_step, registered, Kernels::registered);
BENCHMARK_CAPTURE(captured_step, torch, Kernels::torch);

}  // namespace
}  // namespace thaw
