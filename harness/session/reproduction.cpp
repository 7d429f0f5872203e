// SPDX-License-Identifier: Apache-2.0
#include "session/reproduction.h"

#include <fmt/format.h>

#include <algorithm>

#include "case/case_text.h"
#include "ledger/validate.h"
#include "session/session.h"

namespace thaw {
namespace {

constexpr std::string_view usual_case =
    "slots 12\n"
    "prefill 0 5\n"
    "warmup x3\n"
    "capture g\n"
    "replay g x4\n";

constexpr std::string_view loaded_prompt =
    "slots 12\n"
    "prefill 0 1\n"
    "warmup\n"
    "capture g\n"
    "load 0 5\n"
    "replay g x4\n";

constexpr std::string_view window_of_seven =
    "slots 12\n"
    "window 7\n"
    "prefill 0 5\n"
    "capture g\n"
    "replay g x4\n";

}  // namespace

const std::vector<Demonstration>& demonstrations() {
  static const std::vector<Demonstration> all{
      {"static",
       "right",
       "",
       usual_case,
       FreedMemory::any,
       {{5}, {6}, {7}, {8}},
       "The write position is an input: the caller puts it into a tensor that never moves, and the "
       "captured kernels read it there at every replay. What the host counts, and how many "
       "warm-ups "
       "there were, makes no difference."},
      {"counter:host_int",
       "frozen",
       "",
       usual_case,
       FreedMemory::any,
       {{8}, {8}, {8}, {8}},
       "The cache keeps its write position in a C++ integer. The capture recorded the kernels with "
       "the value that the integer had then, 8: five tokens of prompt and three of warm-up. A "
       "replay "
       "repeats the kernels and none of the host code, so every new token goes into slot 8, over "
       "the one before it. No call fails. The model goes on with a memory that ends at its prompt, "
       "and turns out fluent nonsense."},
      {"counter:cpu_scalar",
       "frozen",
       "",
       usual_case,
       FreedMemory::any,
       {{8}, {8}, {8}, {8}},
       "The count is a tensor, but a 0-dim tensor on the CPU. As an operand of a device operation "
       "it "
       "is read once, at the launch, and becomes a kernel argument like any C++ integer; the "
       "capture "
       "keeps that argument, 8, for ever."},
      {"counter:device_rebind",
       "frozen",
       "",
       usual_case,
       FreedMemory::left_alone,
       {{8}, {8}, {8}, {8}},
       "The count is on the device, but count = count + n makes a new tensor each time. The graph "
       "reads the old one, whose memory was freed, and writes the new one, which it never reads. "
       "As "
       "long as nobody reuses the freed memory, the old value stays there, 8."},
      {"counter:device_rebind",
       "frozen",
       "",
       usual_case,
       FreedMemory::filled_with_ones,
       {{}, {}, {}, {}},
       "The same cache, on a device that fills freed memory: the graph reads a count of -1 from "
       "memory that is nobody's, takes the row for padding, and writes nothing at all. In the "
       "field, "
       "whoever gets that memory next decides where the tokens go."},
      {"counter:device_in_place",
       "drifting",
       "",
       usual_case,
       FreedMemory::any,
       {{8}, {9}, {10}, {11}},
       "The count is on the device and is advanced in place, count.add_(n), inside the graph. "
       "That does not freeze: every replay advances it. But every pass does, also the three "
       "warm-ups "
       "whose results are thrown away, so all tokens lie three slots too far. Without warm-ups "
       "this "
       "cache is right, which is why the fault is missed."},
      {"counter:device_in_place",
       "drifting",
       "prompt loaded after the capture, not the count",
       loaded_prompt,
       FreedMemory::any,
       {{2}, {3}, {4}, {5}},
       "The server captured with a dummy token, then restored keys and values of a real prompt, "
       "but "
       "not the count. It still says 2, and the new tokens overwrite the prompt from there. The "
       "text "
       "stays fluent for a while, which makes this the hardest to see."},
      {"counter:sliding_split",
       "split",
       "a window of seven slots, and no warm-ups",
       window_of_seven,
       FreedMemory::any,
       {{5}, {6}, {}, {}},
       "The cache keeps the last seven entries and moves them up to make room. Where a new one "
       "goes is counted on the device, and is right; whether the row is full is a branch on a C++ "
       "integer, which the capture took when it was not. The replays are right until the window "
       "fills, and then write past its end, that is nothing: nobody moves the entries up."},
  };
  return all;
}

bool Reproduction::as_it_must() const {
  const bool right = of->behaviour == "right";
  if (verdict.status == Verdict::Status::incomplete || verdict.findings.empty() != right) {
    return false;
  }
  if (replays.size() != of->slots.size()) return false;
  for (size_t i = 0; i < replays.size(); ++i) {
    std::vector<int64_t> written;
    for (const WrittenSlots::Slot& slot : replays[i].written) written.push_back(slot.position);
    if (written != of->slots[i]) return false;
  }
  return true;
}

Reproduction reproduce(const Demonstration& demonstration, Device& device, const Registry& registry,
                       Kernels kernels) {
  const std::string text =
      fmt::format("thaw case 1\ncache {}\n{}", demonstration.cache, demonstration.case_text);
  const Case c = parse_case(text, "reproduce");
  validate_case(c, "reproduce");
  WrittenSlots written;
  TokenTally tally;
  Reproduction result;
  result.of = &demonstration;
  result.verdict =
      run_case(c, device, registry, {.kernels = kernels, .observers = {&written, &tally}});
  for (const WrittenSlots::Step& step : written.steps()) {
    if (c.ops[static_cast<size_t>(step.op - 1)].value.kind == OpKind::replay) {
      result.replays.push_back(step);
    }
  }
  result.first_wrong_token = tally.first_wrong();
  return result;
}

}  // namespace thaw
