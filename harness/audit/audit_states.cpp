// SPDX-License-Identifier: Apache-2.0
#include "audit/audit_states.h"

#include <fmt/format.h>

namespace thaw {

std::vector<AuditState> audit_states(const Settings& settings, int64_t q_len, bool several_tokens) {
  // The last op makes the largest step of all states the same: a cache is built for it.
  const std::string capture =
      fmt::format("capture g q={}\n{}", q_len, several_tokens ? "decode q=6\n" : "");
  // An op without effect stands where another state has one, so that op numbers, and with them the
  // generation, stay equal.
  const std::string nothing = "churn 0\n";
  const std::string prompt =
      several_tokens ? "prefill all 3\ndecode x2\n" : "prefill all 1\ndecode x4\n";
  const std::string longer =
      several_tokens ? "prefill all 3\ndecode x4\n" : "prefill all 1\ndecode x6\n";
  std::vector<AuditState> states{
      {"", prompt + nothing + capture},
      {"the position", longer + nothing + capture},
      {"the generation", prompt + nothing + nothing + capture},
      {"the warm-ups before the capture",
       prompt + fmt::format("warmup q={} x3\n", q_len) + capture},
      {"the captures before it", prompt + fmt::format("capture f q={}\n", q_len) + capture},
  };
  if (several_tokens) {
    states.push_back({"the prompt's length", "prefill all 4\ndecode\n" + nothing + capture});
  }
  if (settings.rows > 1) {
    states.push_back(
        {"the live rows", prompt + fmt::format("park {}\n", settings.rows - 1) + capture});
  }
  return states;
}

std::string ops_between_two_captures(int64_t q_len, bool several_tokens) {
  const std::string capture_f = fmt::format("capture f q={}\n", q_len);
  const std::string capture_g = fmt::format("capture g q={}\n", q_len);
  if (!several_tokens) {
    return "prefill all 1\ndecode x4\n" + capture_f +
           "decode x2\nreset all\nprefill all 1\ndecode x2\n" + capture_g;
  }
  return "prefill all 3\ndecode x2\n" + capture_f +
         "decode x2\nwarmup q=4\nreset all\nprefill all 6\ndecode\n" + capture_g;
}

}  // namespace thaw
