// SPDX-License-Identifier: Apache-2.0
//
// The same cases with real arithmetic: what the tag decoder finds, the llama decoder shows too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "case/case_text.h"
#include "device/sim/sim_device.h"
#include "ledger/validate.h"
#include "session/corpus.h"
#include "session/session.h"

namespace thaw {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Case with_llama(Case c) {
  c.settings.decoder = DecoderKind::llama;
  return c;
}

Case parsed(const std::string& text) {
  Case c = parse_case("thaw case 1\ndecoder llama\n" + text, "test");
  validate_case(c, "test");
  return c;
}

std::string text_of(const Verdict& verdict) {
  std::string text(to_string(verdict.status));
  for (const Finding& finding : verdict.findings) {
    text += "\n" + headline(finding) + " " + finding.place + ": expected " + finding.expected +
            ", found " + finding.found;
  }
  return text;
}

TEST(Llama, every_case_of_the_corpus_is_clean_on_the_right_cache) {
  const Registry registry = Registry::standard();
  SimDevice device;
  for (const std::string folder : {"seeds", "zoo"}) {
    for (const CorpusCase& c : corpus_cases(folder)) {
      const Verdict verdict = run_case(with_llama(c.value), device, registry, {.cache = "static"});
      EXPECT_EQ(verdict.status, Verdict::Status::clean) << c.file << ": " << text_of(verdict);
    }
  }
}

TEST(Llama, every_counter_is_found_where_the_tag_decoder_finds_it) {
  const Registry registry = Registry::standard();
  SimDevice device;
  const Case c = parsed("prefill 0 5\nwarmup x3\ncapture g\nreplay g x4\n");
  Case tags = c;
  tags.settings.decoder = DecoderKind::tag;
  for (const Registry::Entry& entry : registry.entries()) {
    const Verdict verdict = run_case(c, device, registry, {.cache = entry.name});
    const Verdict of_tags = run_case(tags, device, registry, {.cache = entry.name});
    if (entry.layout != Layout::linear) {
      EXPECT_EQ(verdict.status, Verdict::Status::incomplete) << entry.name;
      continue;
    }
    ASSERT_EQ(verdict.findings.size(), of_tags.findings.size()) << entry.name << text_of(verdict);
    for (size_t i = 0; i < verdict.findings.size(); ++i) {
      EXPECT_EQ(headline(verdict.findings[i]), headline(of_tags.findings[i])) << entry.name;
    }
    EXPECT_EQ(verdict.status == Verdict::Status::findings, entry.faulty) << entry.name;
  }
}

TEST(Llama, all_dtypes_layers_and_groups_of_heads_are_clean_on_the_right_cache) {
  const Registry registry = Registry::standard();
  SimDevice device;
  for (const std::string settings :
       {"dtype fp16\n", "dtype bf16\n", "layers 3\nheads 6\nkv_heads 2\ndim 6\n",
        "heads 4\nkv_heads 4\n", "layers 2\ndim 20\ndtype bf16\nseed 77\n"}) {
    for (const Kernels kernels : {Kernels::registered, Kernels::torch}) {
      const Verdict verdict = run_case(
          parsed(settings +
                 "rows 3\nslots 12\nprefill 0 5\nprefill 1 3\nwarmup\ncapture a\ncapture b q=3\n"
                 "replay a x2\nload 2 4\nreplay b\ncrop 0 4\nreplay b x3\nreorder 2 0 1\n"
                 "park 1\nreplay a\nreset 0\nprefill 0 11\ndecode q=2 x2\n"),
          device, registry, {.kernels = kernels});
      EXPECT_EQ(verdict.status, Verdict::Status::clean) << settings << text_of(verdict);
      EXPECT_THAT(verdict.comparison, HasSubstr("with plain loops: worst difference"));
    }
  }
}

TEST(Llama, a_report_says_which_entry_lies_in_a_slot_and_what_token_would_follow) {
  const Registry registry = Registry::standard();
  SimDevice device;
  const Verdict verdict = run_case(parsed("prefill 0 5\ncapture g\nreplay g x3\n"), device,
                                   registry, {.cache = "counter:host_int"});
  const Finding* slots = verdict.find(FindingKind::slots);
  ASSERT_NE(slots, nullptr);
  EXPECT_EQ(slots->place, "layer 0, row 0, head 0, position 5, keys");
  EXPECT_EQ(slots->expected, "row 0, position 5, written by op 3 (key, layer 0, head 0)");
  EXPECT_EQ(slots->found, "row 0, position 6, written by op 3 (key, layer 0, head 0)");
  const Finding* outputs = verdict.find(FindingKind::outputs);
  ASSERT_NE(outputs, nullptr);
  EXPECT_THAT(outputs->expected, StartsWith("next token "));
  EXPECT_THAT(outputs->found, HasSubstr("logits differ by up to "));
}

}  // namespace
}  // namespace thaw
