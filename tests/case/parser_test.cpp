// SPDX-License-Identifier: Apache-2.0
// What a text means: words, settings, ops, expects and comments.
#include <gtest/gtest.h>

#include "case/case_text.h"

namespace thaw {
namespace {

Case parse(std::string_view lines) {
  return parse_case("thaw case 1\n" + std::string(lines), "a.kv");
}

Op only_op(std::string_view line) {
  const Case c = parse("rows 3\n" + std::string(line) + "\n");
  EXPECT_EQ(c.ops.size(), 1u);
  return c.ops.at(0).value;
}

Expect only_expect(std::string_view line) {
  const Case c = parse(std::string(line) + "\n");
  EXPECT_EQ(c.expects.size(), 1u);
  return c.expects.at(0).value;
}

TEST(CaseParser, the_header_alone_is_a_case_with_the_default_settings) {
  const Case c = parse("");
  EXPECT_EQ(c, Case{});
  EXPECT_EQ(c.settings.cache, "static");
  EXPECT_EQ(c.settings.decoder, DecoderKind::tag);
  EXPECT_EQ(c.settings.device, DeviceChoice::any);
  EXPECT_EQ(c.settings.layers, 1);
  EXPECT_EQ(c.settings.heads, 2);
  EXPECT_EQ(c.settings.kv_heads, 1);
  EXPECT_EQ(c.settings.dim, 16);
  EXPECT_EQ(c.settings.rows, 1);
  EXPECT_EQ(c.settings.slots, 16);
  EXPECT_EQ(c.settings.dtype, CaseDtype::fp32);
  EXPECT_EQ(c.settings.seed, 1u);
}

TEST(CaseParser, every_key_sets_its_setting) {
  const Settings settings = parse(
                                "cache counter:device_in_place\n"
                                "decoder tag\n"
                                "device cuda\n"
                                "layers 2\n"
                                "heads 8\n"
                                "kv_heads 4\n"
                                "dim 64\n"
                                "rows 3\n"
                                "slots 4096\n"
                                "window 64\n"
                                "dtype bf16\n"
                                "seed 9223372036854775807\n")
                                .settings;
  EXPECT_EQ(settings.cache, "counter:device_in_place");
  EXPECT_EQ(settings.decoder, DecoderKind::tag);
  EXPECT_EQ(settings.device, DeviceChoice::cuda);
  EXPECT_EQ(settings.layers, 2);
  EXPECT_EQ(settings.heads, 8);
  EXPECT_EQ(settings.kv_heads, 4);
  EXPECT_EQ(settings.dim, 64);
  EXPECT_EQ(settings.rows, 3);
  EXPECT_EQ(settings.slots, 4096);
  EXPECT_EQ(settings.window, 64);
  EXPECT_EQ(settings.dtype, CaseDtype::bf16);
  EXPECT_EQ(settings.seed, 9223372036854775807u);
}

TEST(CaseParser, every_op_fills_the_fields_of_its_form) {
  EXPECT_EQ(only_op("prefill 1 5"), (Op{.kind = OpKind::prefill, .row = 1, .count = 5}));
  EXPECT_EQ(only_op("load 2 16"), (Op{.kind = OpKind::load, .row = 2, .count = 16}));
  EXPECT_EQ(only_op("decode"), (Op{.kind = OpKind::decode}));
  EXPECT_EQ(only_op("decode q=4 x3"), (Op{.kind = OpKind::decode, .q = 4, .times = 3}));
  EXPECT_EQ(only_op("warmup q=2 x3"), (Op{.kind = OpKind::warmup, .q = 2, .times = 3}));
  EXPECT_EQ(only_op("capture g q=3"), (Op{.kind = OpKind::capture, .q = 3, .graph = "g"}));
  EXPECT_EQ(only_op("serve q=2 x3"), (Op{.kind = OpKind::serve, .q = 2, .times = 3}));
  EXPECT_EQ(only_op("warmup rows=2"), (Op{.kind = OpKind::warmup, .bucket = 2}));
  EXPECT_EQ(only_op("capture g rows=1 pool=p"),
            (Op{.kind = OpKind::capture, .bucket = 1, .graph = "g", .pool = "p"}));
  EXPECT_EQ(only_op("hold"), (Op{.kind = OpKind::hold}));
  EXPECT_EQ(only_op("sleep"), (Op{.kind = OpKind::sleep}));
  EXPECT_EQ(only_op("reseed 9223372036854775807"),
            (Op{.kind = OpKind::reseed, .count = 9223372036854775807}));
  EXPECT_EQ(only_op("fail capture"), (Op{.kind = OpKind::fail, .count = fail_capture}));
  EXPECT_EQ(only_op("fail replay"), (Op{.kind = OpKind::fail, .count = fail_replay}));
  EXPECT_EQ(only_op("replay g_2 x3"), (Op{.kind = OpKind::replay, .times = 3, .graph = "g_2"}));
  EXPECT_EQ(only_op("drop g"), (Op{.kind = OpKind::drop, .graph = "g"}));
  EXPECT_EQ(only_op("reset 2"), (Op{.kind = OpKind::reset, .row = 2}));
  EXPECT_EQ(only_op("crop 1 0"), (Op{.kind = OpKind::crop, .row = 1, .count = 0}));
  EXPECT_EQ(only_op("reorder 2 0 2"), (Op{.kind = OpKind::reorder, .order = {2, 0, 2}}));
  EXPECT_EQ(only_op("copy 1 2"), (Op{.kind = OpKind::copy, .row = 1, .to = 2}));
  EXPECT_EQ(only_op("park 1"), (Op{.kind = OpKind::park, .row = 1}));
  EXPECT_EQ(only_op("unpark 2"), (Op{.kind = OpKind::unpark, .row = 2}));
  EXPECT_EQ(only_op("churn 64"), (Op{.kind = OpKind::churn, .count = 64}));
}

TEST(CaseParser, rule_R3_all_stands_for_every_row_where_a_form_says_ROWS) {
  for (const char* line :
       {"prefill all 5", "load all 2", "reset all", "crop all 1", "park all", "unpark all"}) {
    EXPECT_EQ(only_op(line).row, all_rows) << line;
  }
  EXPECT_THROW(only_op("copy all 1"), CaseError);
  EXPECT_THROW(only_op("reorder all 1 2"), CaseError);
}

TEST(CaseParser, modifiers_come_in_any_order) {
  EXPECT_EQ(only_op("decode x3 q=4"), only_op("decode q=4 x3"));
}

TEST(CaseParser, a_bucket_of_all_rows_means_the_same_as_none) {
  EXPECT_EQ(only_op("capture g rows=3"), only_op("capture g"));
  EXPECT_EQ(only_op("warmup rows=3"), only_op("warmup"));
}

TEST(CaseParser, modifiers_of_one_mean_the_same_as_none) {
  EXPECT_EQ(only_op("decode q=1 x1"), only_op("decode"));
}

TEST(CaseParser, expects_name_a_cache_a_kind_and_a_place_or_leave_them_out) {
  EXPECT_EQ(only_expect("expect clean"), Expect{});
  EXPECT_EQ(only_expect("expect static clean"), (Expect{.cache = "static"}));
  EXPECT_EQ(only_expect("expect slots"), (Expect{.kind = FindingKind::slots}));
  EXPECT_EQ(only_expect("expect purity@2"), (Expect{.kind = FindingKind::purity, .op = 2}));
  EXPECT_EQ(only_expect("expect zoo:late_write slots@3.2"),
            (Expect{.cache = "zoo:late_write", .kind = FindingKind::slots, .op = 3, .step = 2}));
}

TEST(CaseParser, expects_know_every_kind_of_finding) {
  for (const FindingKindRow& row : finding_kinds()) {
    EXPECT_EQ(only_expect("expect " + std::string(row.name)).kind, row.kind);
  }
}

TEST(CaseParser, expects_may_stand_anywhere_below_the_header) {
  const Case c = parse(
      "expect static clean\n"
      "slots 8\n"
      "expect slots\n"
      "prefill 0 5\n"
      "expect outputs\n");
  EXPECT_EQ(c.settings.slots, 8);
  EXPECT_EQ(c.ops.size(), 1u);
  ASSERT_EQ(c.expects.size(), 3u);
  EXPECT_EQ(print_expect(c.expects[0].value), "slots");
  EXPECT_EQ(print_expect(c.expects[1].value), "outputs");
  EXPECT_EQ(print_expect(c.expects[2].value), "static clean");
}

TEST(CaseParser, blanks_tabs_and_empty_lines_do_not_matter) {
  const Case spaced = parse("\n  rows \t 2\t\n \t\n\tprefill   0\t5  \n\n");
  EXPECT_EQ(spaced, parse("rows 2\nprefill 0 5\n"));
}

TEST(CaseParser, lines_may_end_in_CRLF_and_the_last_one_in_nothing) {
  const Case unix_lines = parse("rows 2 # two\n# above\nprefill 0 5\n");
  EXPECT_EQ(parse_case("thaw case 1\r\nrows 2 # two\r\n# above\r\nprefill 0 5\r\n", "a.kv"),
            unix_lines);
  EXPECT_EQ(parse_case("thaw case 1\nrows 2 # two\n# above\nprefill 0 5", "a.kv"), unix_lines);
}

TEST(CaseParser, positions_and_columns_point_into_the_text) {
  const Case c = parse("slots 8\n  capture   g\tq=2\nexpect  static slots@1\n");
  const Line<Op>& op = c.ops.at(0);
  EXPECT_EQ(op.position.line, 3);
  EXPECT_EQ(op.position.column, 3);
  EXPECT_EQ(op.columns, (std::vector<int64_t>{3, 13, 15}));
  const Line<Expect>& expect = c.expects.at(0);
  EXPECT_EQ(expect.position.line, 4);
  EXPECT_EQ(expect.columns, (std::vector<int64_t>{1, 9, 16}));
}

TEST(CaseParser, the_cache_is_built_for_the_largest_q_of_any_step) {
  EXPECT_EQ(parse("").q_len_max(), 1);
  EXPECT_EQ(parse("prefill 0 5\ndecode q=2\n").q_len_max(), 5);
  EXPECT_EQ(parse("prefill 0 1\ndecode q=2\ncapture g q=3\nwarmup q=4\n").q_len_max(), 4);
  EXPECT_EQ(parse("load 0 7\n").q_len_max(), 7);
  EXPECT_EQ(parse("prefill 0 3\ncrop 0 2\nchurn 64\n").q_len_max(), 3);
}

TEST(CaseComments, belong_to_the_line_below_or_beside) {
  const Case c = parse(
      "# about the case\n"
      "cache counter:host_int # the frozen one\n"
      "# tight\n"
      "slots 8\n"
      "# first\n"
      "#   second\n"
      "prefill 0 5 #prompt\n"
      "capture g\n"
      "# said of the expect\n"
      "expect clean # beside the expect\n"
      "# the end\n");
  EXPECT_EQ(c.header_comments, std::vector<std::string>{"about the case"});
  ASSERT_EQ(c.setting_comments.size(), 2u);
  EXPECT_EQ(c.setting_comments[0].first, "cache");
  EXPECT_EQ(c.setting_comments[0].second, (Comments{{}, "the frozen one"}));
  EXPECT_EQ(c.setting_comments[1].first, "slots");
  EXPECT_EQ(c.setting_comments[1].second, (Comments{{"tight"}, {}}));
  EXPECT_EQ(c.ops.at(0).comments, (Comments{{"first", "  second"}, "prompt"}));
  EXPECT_EQ(c.ops.at(1).comments, Comments{});
  EXPECT_EQ(c.expects.at(0).comments, (Comments{{"said of the expect"}, "beside the expect"}));
  EXPECT_EQ(c.closing_comments, std::vector<std::string>{"the end"});
}

TEST(CaseComments, begin_at_a_hash_that_follows_a_blank) {
  EXPECT_EQ(parse("churn 0 # a # b\n").ops.at(0).comments.beside, "a # b");
  EXPECT_THROW(parse("churn 0# a\n"), CaseError);
}

TEST(CaseComments, beside_the_header_belong_to_the_header) {
  EXPECT_EQ(parse_case("thaw case 1 # name\n# more\n", "a.kv").header_comments,
            (std::vector<std::string>{"name", "more"}));
}

TEST(CaseComments, above_the_first_setting_belong_to_the_header_wherever_that_setting_is_printed) {
  const Case c = parse("# about\nslots 8\n# which\ncache counter\n");
  EXPECT_EQ(c.header_comments, (std::vector<std::string>{"about", "which"}));
  EXPECT_TRUE(c.setting_comments.empty());
}

TEST(CaseComments, without_settings_belong_to_the_header_when_they_stand_below_it) {
  const Case c = parse("# about\nprefill 0 5\n# more\ndecode\n");
  EXPECT_EQ(c.header_comments, std::vector<std::string>{"about"});
  EXPECT_TRUE(c.ops.at(0).comments.above.empty());
  EXPECT_EQ(c.ops.at(1).comments.above, std::vector<std::string>{"more"});
}

TEST(CaseComments, above_an_op_stay_there_when_a_setting_is_printed_for_its_comment_alone) {
  const Case c = parse("slots 16 # the default\n# of the op\nprefill 0 5\n");
  EXPECT_TRUE(c.header_comments.empty());
  EXPECT_EQ(c.ops.at(0).comments.above, std::vector<std::string>{"of the op"});
}

TEST(CaseComments, may_hold_any_UTF8_text) {
  const Case c = parse("decode # \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x99\x82\n");
  EXPECT_EQ(c.ops.at(0).comments.beside, "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x99\x82");
}

TEST(CaseComments, lose_only_one_blank_in_front_and_all_at_the_end) {
  EXPECT_EQ(parse("decode #  a \t\n").ops.at(0).comments.beside, " a");
  EXPECT_EQ(parse("decode #\ta\n").ops.at(0).comments.beside, "\ta");
  EXPECT_EQ(parse("decode #\n").ops.at(0).comments.beside, "");
}

}  // namespace
}  // namespace thaw
