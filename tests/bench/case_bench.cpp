// SPDX-License-Identifier: Apache-2.0
//
// A whole case: what the harness adds to what the subject costs, and the ledger alone.

#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "ledger/ledger.h"
#include "ledger/validate.h"
#include "session/session.h"

namespace thaw {
namespace {

constexpr const char* sixteen_ops =
    "thaw case 1\n"
    "rows 2\n"
    "prefill 0 3\n"
    "prefill 1 5\n"
    "warmup x3\n"
    "capture a\n"
    "replay a\n"
    "decode\n"
    "replay a\n"
    "crop 0 3\n"
    "replay a\n"
    "capture b\n"
    "decode\n"
    "replay b\n"
    "park 1\n"
    "replay a\n"
    "reset 0\n"
    "prefill 0 2\n";

Case the_case() {
  Case c = parse_case(sixteen_ops, "bench");
  validate_case(c, "bench");
  return c;
}

void case_with_all_oracles(benchmark::State& state) {
  SimDevice device;
  const Registry registry = Registry::standard();
  const Case c = the_case();
  for (auto _ : state) {
    if (run_case(c, device, registry).status != Verdict::Status::clean) {
      state.SkipWithError("the case is not clean");
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(case_with_all_oracles);

/// The same ops on the same subject, with nobody looking.
void case_subject_alone(benchmark::State& state) {
  const c10::InferenceMode no_autograd;
  SimDevice device;
  const Registry registry = Registry::standard();
  const Case c = the_case();
  StepPlan plan;
  for (auto _ : state) {
    device.reset();
    const auto subject = registry.find("static")->make(device, c, Kernels::registered);
    Ledger ledger(c.settings);
    int64_t number = 0;
    for (const auto& line : c.ops) {
      const Op& op = line.value;
      ++number;
      if (op.kind == OpKind::capture || Ledger::steps_of(op) > 0) {
        ledger.plan(op, plan);
        for (int64_t step = 0; step < std::max<int64_t>(Ledger::steps_of(op), 1); ++step) {
          subject->refill(plan, number);
          if (op.kind == OpKind::capture) {
            subject->capture(op.graph, op.pool);
          } else if (op.kind == OpKind::replay) {
            subject->replay(op.graph);
          } else {
            subject->step();
          }
        }
      } else if (op.kind == OpKind::crop) {
        subject->crop(std::vector<int64_t>{op.row}, op.count);
      } else if (op.kind == OpKind::reset) {
        subject->reset(std::vector<int64_t>{op.row});
      }
      ledger.apply(op, number);
    }
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(case_subject_alone);

/// Precondition, plan and effect of every op.
void ledger_ops(benchmark::State& state) {
  const Case c = the_case();
  StepPlan plan;
  int64_t ops = 0;
  for (auto _ : state) {
    Ledger ledger(c.settings);
    for (const auto& line : c.ops) {
      if (ledger.obstacle(line.value)) state.SkipWithError("the case is not valid");
      if (Ledger::steps_of(line.value) > 0) {
        ledger.plan(line.value, plan);
        benchmark::DoNotOptimize(plan.positions.data());
      }
      ledger.apply(line.value, ++ops);
    }
    benchmark::DoNotOptimize(ledger.length(0));
  }
  state.SetItemsProcessed(ops);
}
BENCHMARK(ledger_ops);

void parse_and_print(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(print_case(parse_case(sixteen_ops, "bench")));
}
BENCHMARK(parse_and_print);

}  // namespace
}  // namespace thaw
