// SPDX-License-Identifier: Apache-2.0
// What a bad case is told: one error, the first one, word for word.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "case/case_text.h"
#include "case/op_table.h"

namespace thaw {
namespace {

/// What is said about a text; "" for one that is a case.
std::string error_of(std::string_view text) {
  try {
    parse_case(text, "a.kv");
  } catch (const CaseError& error) {
    return error.what();
  }
  return "";
}

struct BadText {
  std::string_view text;
  std::string_view error;
};

void expect_errors(std::span<const BadText> table) {
  for (const BadText& row : table) EXPECT_EQ(error_of(row.text), row.error) << row.text;
}

/// Lines below a header.
void expect_line_errors(std::span<const BadText> table) {
  for (const BadText& row : table) {
    EXPECT_EQ(error_of("thaw case 1\n" + std::string(row.text)), row.error) << row.text;
  }
}

TEST(CaseErrors, section_6_syntax_errors_come_out_as_written) {
  constexpr BadText table[] = {
      {"# no header\n", "a.kv:1:1: not a case: expected 'thaw case 1' on the first line"},
      {"thaw case 2\n",
       "a.kv:1:11: version 2 is newer than this program reads (1); update thaw, or rewrite the "
       "case with 'thaw run --as 1' where it still can"},
      {"thaw case 1\nprefill 0 5\ndecode\nrollback 0 3\n",
       "a.kv:4:1: unknown op 'rollback'; did you mean 'crop ROWS LENGTH'? ('thaw list ops' shows "
       "all)"},
      {"thaw case 1\n# two rows\nslots 8\nrow 2\n",
       "a.kv:4:1: unknown key 'row'; did you mean 'rows'?"},
      {"thaw case 1\n# about\nrows 2\nprefill 0 5\ndecode\nslots 8\n",
       "a.kv:6:1: 'slots' comes after the first op (line 4); move it above"},
      {"thaw case 1\nrows 2\nslots 0\n", "a.kv:3:7: slots must be 1 to 4096, found 0"},
      {"thaw case 1\nrows 2\nslots 8\nprefill 0 4\ndecode 3\n",
       "a.kv:5:8: 'decode 3' reads like a row; write 'decode x3' for three steps or 'decode q=3' "
       "for three tokens in one"},
      {"thaw case 1\n\n\n\n\n\n\n\nexpect slot\n",
       "a.kv:9:8: expect: unknown kind 'slot'; one of slots, outputs, length, addresses, liveness, "
       "purity, freeze, canary, determinism, permutation, fresh, refusal, error"},
  };
  expect_errors(table);
}

TEST(CaseErrors, the_first_line_says_that_this_is_a_case_of_a_version_that_is_known) {
  constexpr std::string_view not_a_case =
      "a.kv:1:1: not a case: expected 'thaw case 1' on the first line";
  constexpr BadText table[] = {
      {"", not_a_case},
      {"\nthaw case 1\n", not_a_case},
      {" thaw case 1\n", not_a_case},
      {"thaw", not_a_case},
      {"thaw case\n", not_a_case},
      {"thaw case 0\n", not_a_case},
      {"thaw case 01\n", not_a_case},
      {"thaw case one\n", not_a_case},
      {"thaw case 1 more\n", not_a_case},
      {"thawcase 1\n", not_a_case},
      {"\x7F"
       "ELF",
       not_a_case},
      {"\xEF\xBB\xBFthaw case 1\n",
       "a.kv:1:1: a byte order mark; a case is UTF-8 without one; remove it"},
  };
  expect_errors(table);
}

TEST(CaseErrors, words_are_unknown_by_name_and_near_ones_are_suggested) {
  constexpr BadText table[] = {
      {"capacity 8\n",
       "a.kv:2:1: unknown word 'capacity'; expected a key, an op or 'expect' ('thaw list ops' "
       "shows "
       "all)"},
      {"quantise\n",
       "a.kv:2:1: unknown word 'quantise'; expected a key, an op or 'expect' ('thaw list ops' "
       "shows "
       "all)"},
      {"decode\nquantise\n",
       "a.kv:3:1: unknown op 'quantise'; expected an op or 'expect' ('thaw list ops' shows all)"},
      {"decode\nSchedule late\n",
       "a.kv:3:1: unknown op 'Schedule'; expected an op or 'expect' ('thaw list ops' shows all)"},
      {"decode\ndecod\n",
       "a.kv:3:1: unknown op 'decod'; did you mean 'decode [q=Q] [xN]'? ('thaw list ops' shows "
       "all)"},
      {"Decode\n",
       "a.kv:2:1: unknown op 'Decode'; did you mean 'decode [q=Q] [xN]'? ('thaw list ops' shows "
       "all)"},
      {"unpakr 0\n",
       "a.kv:2:1: unknown op 'unpakr'; did you mean 'unpark ROWS'? ('thaw list ops' shows all)"},
      {"fork 0 1\n",
       "a.kv:2:1: unknown op 'fork'; did you mean 'copy FROM TO'? ('thaw list ops' shows all)"},
      {"slots=8\n", "a.kv:2:1: unknown key 'slots=8'; did you mean 'slots'?"},
      {"expects clean\n", "a.kv:2:1: unknown word 'expects'; did you mean 'expect'?"},
      {"8\n",
       "a.kv:2:1: unknown word '8'; expected a key, an op or 'expect' ('thaw list ops' shows "
       "all)"},
  };
  expect_line_errors(table);
}

TEST(CaseErrors, settings_have_one_value_within_bounds_and_are_set_once) {
  constexpr BadText table[] = {
      {"slots\n", "a.kv:2:6: slots: the value is missing; expected 'slots VALUE'"},
      {"slots 8 9\n", "a.kv:2:9: slots: '9' is one word too many; expected 'slots VALUE'"},
      {"slots 8\nslots 8\n", "a.kv:3:1: 'slots' is set already (line 2); keep one of them"},
      {"slots eight\n", "a.kv:2:7: slots must be 1 to 4096, found 'eight'"},
      {"slots -1\n", "a.kv:2:7: slots must be 1 to 4096, found '-1'"},
      {"slots 08\n",
       "a.kv:2:7: slots must be 1 to 4096, found '08'; write it without the zero in front"},
      {"slots 4097\n", "a.kv:2:7: slots must be 1 to 4096, found 4097"},
      {"slots 18446744073709551617\n",
       "a.kv:2:7: slots must be 1 to 4096, found 18446744073709551617"},
      {"dtype fp8\n", "a.kv:2:7: dtype must be fp32, fp16 or bf16, found 'fp8'"},
      {"device cdua\n",
       "a.kv:2:8: device must be any, sim or cuda, found 'cdua'; did you mean 'cuda'?"},
      {"decoder lama\n",
       "a.kv:2:9: decoder must be tag or llama, found 'lama'; did you mean 'llama'?"},
      {"dim 8\ndecode\n", "a.kv:2:5: dim must be 12 to 256 with the decoder tag, found 8"},
      {"dim 13\ndecoder llama\ndecode\n",
       "a.kv:3:9: dim must be even with the decoder llama, found 13"},
      {"cache Static\n",
       "a.kv:2:7: cache: 'Static' is not the name of a cache; expected NAME or NAME:NAME, in lower "
       "case ('thaw list caches' shows all)"},
      {"cache a:b:c\n",
       "a.kv:2:7: cache: 'a:b:c' is not the name of a cache; expected NAME or NAME:NAME, in lower "
       "case ('thaw list caches' shows all)"},
      {"cache clean\n",
       "a.kv:2:7: cache: 'clean' is a word of the language; no cache is called so"},
      {"heads 3\nkv_heads 2\n",
       "a.kv:3:10: heads must be a multiple of kv_heads, found heads 3 and kv_heads 2"},
      {"kv_heads 2\nheads 3\n",
       "a.kv:3:7: heads must be a multiple of kv_heads, found heads 3 and kv_heads 2"},
      {"slots 8\nwindow 9\n", "a.kv:3:8: window must be 0 to slots, found window 9 and slots 8"},
      {"window 9\nslots 8\n", "a.kv:3:7: window must be 0 to slots, found window 9 and slots 8"},
      {"window 17\n", "a.kv:2:8: window must be 0 to slots, found window 17 and slots 16"},
      {"kv_heads 4\ndecode\nnonsense\n",
       "a.kv:2:10: heads must be a multiple of kv_heads, found heads 2 and kv_heads 4"},
  };
  expect_line_errors(table);
}

TEST(CaseErrors, every_key_with_a_number_accepts_its_bounds_and_nothing_outside) {
  int checked = 0;
  for (const KeyRow& key : key_rows()) {
    if (key.is_name() || !key.choices.empty()) continue;
    const auto set_to = [&](const std::string& value) {
      // One head divides every number of heads, sixteen heads are a multiple of sixteen, a window
      // is not larger than its row, and the least dim is the llama decoder's.
      const std::string other = key.name == "kv_heads" ? "heads 16\n"
                                : key.name == "window" ? "slots 4096\n"
                                : key.name == "dim"    ? "decoder llama\n"
                                                       : "";
      return error_of("thaw case 1\n" + other + std::string(key.name) + " " + value + "\n");
    };
    const Bounds bounds = resolved(key.bounds, 16, 4096);
    EXPECT_EQ(set_to(std::to_string(bounds.least)), "") << key.name;
    EXPECT_EQ(set_to(std::to_string(bounds.most)), "") << key.name;
    const auto above = std::to_string(static_cast<uint64_t>(bounds.most) + 1);
    const std::string range = std::to_string(bounds.least) + " to " + std::to_string(bounds.most);
    EXPECT_NE(set_to(above).find(std::string(key.name) + " must be " + range + ", found " + above),
              std::string::npos)
        << set_to(above);
    if (bounds.least > 0) {
      EXPECT_NE(set_to("0").find("must be " + range + ", found 0"), std::string::npos);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 8);
}

TEST(CaseErrors, arguments_are_all_there_and_within_bounds) {
  constexpr BadText table[] = {
      {"prefill\n", "a.kv:2:8: prefill: ROWS is missing; expected 'prefill ROWS N'"},
      {"prefill 0\n", "a.kv:2:10: prefill: N is missing; expected 'prefill ROWS N'"},
      {"prefill 0 5 6\n", "a.kv:2:13: prefill: unexpected '6'; expected 'prefill ROWS N'"},
      {"prefill 0 0\n", "a.kv:2:11: prefill: N must be 1 to 4096, found 0"},
      {"prefill 0 4097\n", "a.kv:2:11: prefill: N must be 1 to 4096, found 4097"},
      {"prefill row0 5\n", "a.kv:2:9: prefill: row must be 0, found 'row0'"},
      {"prefill 1 5\n",
       "a.kv:2:9: prefill: row must be 0, found 1; the case has 1 row ('rows' sets how many)"},
      {"rows 3\npark 3\n",
       "a.kv:3:6: park: row must be 0 to 2, found 3; the case has 3 rows ('rows' sets how many)"},
      {"rows 3\ncopy 0 3\n",
       "a.kv:3:8: copy: TO must be 0 to 2, found 3; the case has 3 rows ('rows' sets how many)"},
      {"rows 3\ncopy all 1\n", "a.kv:3:6: copy: FROM must be 0 to 2, found 'all'"},
      {"load 0 17\n",
       "a.kv:2:8: load: N must be 1 to 16, found 17; a row has 16 slots ('slots' sets how many)"},
      {"slots 1\ncrop 0 2\n",
       "a.kv:3:8: crop: LENGTH must be 0 to 1, found 2; a row has 1 slot ('slots' sets how many)"},
      {"churn 65\n", "a.kv:2:7: churn: N must be 0 to 64, found 65"},
      {"rows 2\nreorder 0\n",
       "a.kv:3:10: reorder: 1 row number for 2 rows; expected one for each row"},
      {"rows 2\nreorder 0 1 0\n",
       "a.kv:3:13: reorder: 3 row numbers for 2 rows; expected one for each row"},
      {"rows 2\nreorder 0 2\n",
       "a.kv:3:11: reorder: row must be 0 to 1, found 2; the case has 2 rows ('rows' sets how "
       "many)"},
      {"prefill 0 5# prompt\n", "a.kv:2:11: prefill: N must be 1 to 4096, found '5#'"},
  };
  expect_line_errors(table);
}

TEST(CaseErrors, modifiers_apply_to_the_op_and_come_once) {
  constexpr BadText table[] = {
      {"decode q=0\n", "a.kv:2:10: decode: q must be 1 to 4096, found 0"},
      {"warmup q=4097\n", "a.kv:2:10: warmup: q must be 1 to 4096, found 4097"},
      {"decode q=\n", "a.kv:2:10: decode: q is missing; expected a number, 1 to 4096"},
      {"decode x0\n", "a.kv:2:9: decode: x must be 1 to 1000000, found 0"},
      {"replay g x1000001\n", "a.kv:2:11: replay: x must be 1 to 1000000, found 1000001"},
      {"decode q=2 x3 q=2\n", "a.kv:2:15: decode: q is given twice; keep one of them"},
      {"replay g q=2\n", "a.kv:2:10: replay: unexpected 'q=2'; expected 'replay G [xN]'"},
      {"capture g x2\n",
       "a.kv:2:11: capture: unexpected 'x2'; expected 'capture G [q=Q] [rows=B] [pool=P]'"},
      {"capture g rows=2\n",
       "a.kv:2:16: capture: rows must be 1, found 2; the case has 1 row ('rows' sets how many)"},
      {"rows 3\ncapture g rows=0\n",
       "a.kv:3:16: capture: rows must be 1 to 3, found 0; the case has 3 rows ('rows' sets how "
       "many)"},
      {"capture g pool=\n",
       "a.kv:2:16: capture: '' is not a name; expected a lower-case letter, then letters, digits "
       "or "
       "'_', 32 in all at most"},
      {"capture g pool=all\n",
       "a.kv:2:16: capture: 'all' is a word of the language; take another name"},
      {"capture g pool=p pool=p\n", "a.kv:2:18: capture: pool is given twice; keep one of them"},
      {"decode rows=1\n", "a.kv:2:8: decode: unexpected 'rows=1'; expected 'decode [q=Q] [xN]'"},
      {"serve pool=p\n", "a.kv:2:7: serve: unexpected 'pool=p'; expected 'serve [q=Q] [xN]'"},
      {"hold 1\n", "a.kv:2:6: hold: unexpected '1'; expected 'hold'"},
      {"fail\n", "a.kv:2:5: fail: CALL is missing; expected 'fail CALL'"},
      {"fail launch\n", "a.kv:2:6: fail: CALL must be capture or replay, found 'launch'"},
      {"reseed -1\n", "a.kv:2:8: reseed: S must be 0 to 9223372036854775807, found '-1'"},
      {"reset 0 x2\n", "a.kv:2:9: reset: unexpected 'x2'; expected 'reset ROWS'"},
  };
  expect_line_errors(table);
}

TEST(CaseErrors, a_bare_number_is_told_what_to_write_instead) {
  constexpr BadText table[] = {
      {"decode 1\n",
       "a.kv:2:8: 'decode 1' reads like a row; write 'decode x1' for one step or 'decode q=1' for "
       "one token in one"},
      {"warmup 13\n",
       "a.kv:2:8: 'warmup 13' reads like a row; write 'warmup x13' for 13 steps or 'warmup q=13' "
       "for 13 tokens in one"},
      {"decode 5000\n",
       "a.kv:2:8: 'decode 5000' reads like a row; write 'decode x5000' for 5000 steps"},
      {"decode q=2 12\n",
       "a.kv:2:12: 'decode q=2 12' reads like a row; write 'decode q=2 x12' for twelve steps"},
      {"replay  g  3\n",
       "a.kv:2:12: 'replay g 3' reads like a row; write 'replay g x3' for three steps"},
      {"capture g 3\n",
       "a.kv:2:11: 'capture g 3' reads like a row; write 'capture g q=3' for three tokens in one"},
      {"decode 0\n", "a.kv:2:8: decode: unexpected '0'; expected 'decode [q=Q] [xN]'"},
      {"decode 9999999\n", "a.kv:2:8: decode: unexpected '9999999'; expected 'decode [q=Q] [xN]'"},
      {"decode 3 4\n", "a.kv:2:8: decode: unexpected '3'; expected 'decode [q=Q] [xN]'"},
  };
  expect_line_errors(table);
}

TEST(CaseErrors, graphs_have_names_that_are_no_words_of_the_language) {
  constexpr BadText table[] = {
      {"capture\n",
       "a.kv:2:8: capture: G is missing; expected 'capture G [q=Q] [rows=B] [pool=P]'"},
      {"capture G\n",
       "a.kv:2:9: capture: 'G' is not a name; expected a lower-case letter, then letters, digits "
       "or '_', 32 in all at most"},
      {"drop 2g\n",
       "a.kv:2:6: drop: '2g' is not a name; expected a lower-case letter, then letters, digits or "
       "'_', 32 in all at most"},
      {"capture q=3\n",
       "a.kv:2:9: capture: 'q=3' is not a name; expected a lower-case letter, then letters, digits "
       "or '_', 32 in all at most"},
      {"capture slots\n",
       "a.kv:2:9: capture: 'slots' is a word of the language; take another name"},
  };
  expect_line_errors(table);
  const std::string longest(32, 'g');
  EXPECT_EQ(error_of("thaw case 1\ncapture " + longest + "\n"), "");
  EXPECT_NE(error_of("thaw case 1\ncapture " + longest + "g\n"), "");
}

TEST(CaseErrors, no_op_key_kind_nor_all_and_clean_is_the_name_of_a_graph_or_a_cache) {
  std::vector<std::string> reserved{"all", "clean"};
  for (const OpRow& row : op_rows()) reserved.emplace_back(row.name);
  for (const KeyRow& row : key_rows()) reserved.emplace_back(row.name);
  for (const FindingKindRow& row : finding_kinds()) reserved.emplace_back(row.name);
  for (const std::string& word : reserved) {
    EXPECT_NE(error_of("thaw case 1\ncapture " + word + "\n"), "") << word;
    EXPECT_NE(error_of("thaw case 1\ncache " + word + "\n"), "") << word;
    EXPECT_NE(error_of("thaw case 1\nexpect " + word + " clean\n"), "") << word;
    EXPECT_EQ(error_of("thaw case 1\ncache zoo:" + word + "\n"), "") << word;
  }
}

TEST(CaseErrors, no_key_is_called_like_an_op_or_a_word_of_an_expect) {
  for (const KeyRow& key : key_rows()) {
    EXPECT_EQ(find_op(key.name), nullptr) << key.name;
    EXPECT_NE(key.name, "expect");
  }
}

TEST(CaseErrors, expects_have_a_kind_and_a_place_that_can_exist) {
  constexpr BadText table[] = {
      {"expect\n",
       "a.kv:2:7: expect: a kind or 'clean' is missing; expected 'expect [CACHE] clean' or "
       "'expect [CACHE] KIND[@OP[.STEP]]'"},
      {"expect static slots@1 now\n",
       "a.kv:2:23: expect: 'now' is one word too many; expected 'expect [CACHE] clean' or 'expect "
       "[CACHE] KIND[@OP[.STEP]]'"},
      {"expect static\n",
       "a.kv:2:8: expect: unknown kind 'static'; one of slots, outputs, length, addresses, "
       "liveness, purity, freeze, canary, determinism, permutation, fresh, refusal, error"},
      {"expect Static clean\n",
       "a.kv:2:8: expect: 'Static' is not the name of a cache; expected NAME or NAME:NAME, in "
       "lower case ('thaw list caches' shows all)"},
      {"expect slots outputs\n",
       "a.kv:2:8: expect: 'slots' is a word of the language; no cache is called so"},
      {"expect clean@3\n",
       "a.kv:2:13: expect: 'clean' has no place; expected 'clean' alone, or a kind before the '@'"},
      {"expect slots@\n", "a.kv:2:14: expect: OP is missing; expected a number, 1 to 1000000"},
      {"expect slots@0\n", "a.kv:2:14: expect: OP must be 1 to 1000000, found 0"},
      {"expect slots@3.\n", "a.kv:2:16: expect: STEP is missing; expected a number, 1 to 1000000"},
      {"expect slots@3.0\n", "a.kv:2:16: expect: STEP must be 1 to 1000000, found 0"},
      {"expect slots@3.1.1\n", "a.kv:2:16: expect: STEP must be 1 to 1000000, found '1.1'"},
  };
  expect_line_errors(table);
}

TEST(CaseErrors, only_the_first_error_is_told) {
  EXPECT_EQ(error_of("thaw case 1\nslots 0\nrow 1\n\xFF\n"),
            "a.kv:2:7: slots must be 1 to 4096, found 0");
}

TEST(CaseErrors, very_long_words_are_shown_in_part) {
  EXPECT_EQ(error_of("thaw case 1\nslots " + std::string(5000, 'x') + "\n"),
            "a.kv:2:7: slots must be 1 to 4096, found '" + std::string(40, 'x') + "...'");
  // A character is never cut in two.
  std::string word;
  for (int i = 0; i < 30; ++i) word += "\xE2\x82\xAC";
  EXPECT_EQ(error_of("thaw case 1\nslots " + word + "\n"),
            "a.kv:2:7: slots must be 1 to 4096, found '" + word.substr(0, 39) + "...'");
}

TEST(CaseErrors, a_case_without_a_text_is_named_without_a_position) {
  EXPECT_STREQ(CaseError("made here", {}, "what is wrong").what(), "made here: what is wrong");
  EXPECT_STREQ(CaseError("a.kv", {3, 7}, "what is wrong").what(), "a.kv:3:7: what is wrong");
}

}  // namespace
}  // namespace thaw
