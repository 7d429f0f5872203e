// SPDX-License-Identifier: Apache-2.0
//
// Real requests: 500 of a code-completion service through one captured step.

#include <gtest/gtest.h>

#include <string>

#include "device/sim/sim_device.h"
#include "ledger/validate.h"
#include "session/corpus.h"
#include "session/session.h"
#include "session/token_tally.h"
#include "trace/request_trace.h"
#include "trace/trace_case.h"

namespace thaw {
namespace {

const std::string azure = "workloads/azure_llm_2023_code_500.csv";
const std::string mooncake = "workloads/mooncake_fast25_synthetic_200.jsonl";
constexpr int64_t prompt_tokens = 67'840, generated_tokens = 968;

Case traced(const std::string& cache, const std::string& file = azure, int64_t scale = 16) {
  const auto requests = read_trace(corpus_text(file), file).requests;
  const Case c = trace_case(requests, {.scale = scale, .slots = {}, .cache = cache}, file);
  validate_case(c, file);
  return c;
}

TEST(Trace, five_hundred_requests_are_clean_on_the_right_cache) {
  SimDevice device;
  TokenTally tally;
  const Verdict verdict = run_case(traced("static"), device, Registry::standard(),
                                   {.cache = {}, .observers = {&tally}});
  EXPECT_EQ(verdict.status, Verdict::Status::clean);
  EXPECT_EQ(verdict.captures, 1);
  EXPECT_EQ(tally.tokens(), prompt_tokens + generated_tokens);
  EXPECT_EQ(tally.replayed(), generated_tokens);
  EXPECT_EQ(tally.wrong(), 0);
}

TEST(Trace, every_counter_is_found_and_its_first_wrong_token_is_named) {
  SimDevice device;
  const Registry registry = Registry::standard();
  for (const Registry::Entry& entry : registry.entries()) {
    if (!entry.faulty) continue;
    TokenTally tally;
    const Verdict verdict =
        run_case(traced(entry.name), device, registry, {.cache = {}, .observers = {&tally}});
    EXPECT_EQ(verdict.status, Verdict::Status::findings) << entry.name;
    ASSERT_TRUE(tally.first_wrong().has_value()) << entry.name;
    EXPECT_EQ(tally.first_wrong()->op, 11) << entry.name << ": eight prefills, warm-ups, capture";
    EXPECT_GT(tally.wrong(), 0);
    EXPECT_EQ(tally.replayed_wrong(), tally.wrong()) << "prompts are prefilled eagerly";
  }
}

TEST(Trace, requests_of_another_service_are_clean_and_its_counter_is_found) {
  SimDevice device;
  const Registry registry = Registry::standard();
  const Case c = traced("static", mooncake, 256);
  EXPECT_EQ(run_case(c, device, registry).status, Verdict::Status::clean);
  EXPECT_EQ(run_case(c, device, registry, {.cache = "counter"}).status, Verdict::Status::findings);
}

}  // namespace
}  // namespace thaw
