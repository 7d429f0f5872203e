// SPDX-License-Identifier: Apache-2.0
// The one table of the language, and what is made from it.
#include "case/op_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "case/language_tables.h"

namespace thaw {
namespace {

TEST(OpTable, ops_are_found_by_kind_and_by_name) {
  EXPECT_EQ(op_rows().size(), 19u);
  for (const OpRow& row : op_rows()) {
    EXPECT_EQ(&op_row(row.kind), &row);
    EXPECT_EQ(find_op(row.name), &row);
    EXPECT_EQ(to_string(row.kind), row.name);
    EXPECT_TRUE(row.description.ends_with(".")) << row.name;
  }
  EXPECT_EQ(find_op("rollback"), nullptr);
  EXPECT_EQ(find_op(""), nullptr);
}

TEST(OpTable, forms_are_written_from_arguments_and_modifiers) {
  EXPECT_EQ(op_form(op_row(OpKind::prefill)), "prefill ROWS N");
  EXPECT_EQ(op_form(op_row(OpKind::decode)), "decode [q=Q] [xN]");
  EXPECT_EQ(op_form(op_row(OpKind::capture)), "capture G [q=Q] [rows=B] [pool=P]");
  EXPECT_EQ(op_form(op_row(OpKind::warmup)), "warmup [q=Q] [rows=B] [xN]");
  EXPECT_EQ(op_form(op_row(OpKind::fail)), "fail CALL");
  EXPECT_EQ(op_form(op_row(OpKind::hold)), "hold");
  EXPECT_EQ(op_form(op_row(OpKind::replay)), "replay G [xN]");
  EXPECT_EQ(op_form(op_row(OpKind::reorder)), "reorder ROW ROW ...");
  EXPECT_EQ(op_form(op_row(OpKind::copy)), "copy FROM TO");
  EXPECT_EQ(op_form(op_row(OpKind::crop)), "crop ROWS LENGTH");
}

TEST(OpTable, rule_R4_steps_come_from_prefill_decode_serve_warmup_and_replay) {
  std::string makers;
  for (const OpRow& row : op_rows()) {
    if (row.makes_steps) makers += std::string(row.name) + " ";
  }
  EXPECT_EQ(makers, "prefill decode serve warmup replay ");
}

TEST(OpTable, words_that_people_use_elsewhere_belong_to_one_op_and_are_no_words_of_the_language) {
  std::set<std::string_view> seen;
  for (const OpRow& row : op_rows()) {
    for (const std::string_view word : row.also_called) {
      EXPECT_TRUE(seen.insert(word).second) << word;
      EXPECT_FALSE(is_reserved(word)) << word;
    }
  }
  EXPECT_FALSE(seen.empty());
}

TEST(KeyTable, keys_are_found_by_name_and_their_defaults_are_those_of_Settings) {
  const Settings defaults;
  for (const KeyRow& key : key_rows()) {
    EXPECT_EQ(find_key(key.name), &key);
    EXPECT_TRUE(is_default(key, defaults)) << key.name;
  }
  EXPECT_EQ(find_key("row"), nullptr);
}

TEST(KeyTable, every_key_reads_back_what_was_set_and_changes_nothing_else) {
  for (const KeyRow& key : key_rows()) {
    if (key.is_name()) continue;
    const int64_t last =
        key.choices.empty() ? key.bounds.most : static_cast<int64_t>(key.choices.size()) - 1;
    Settings settings;
    key.set(settings, last);
    EXPECT_EQ(key.get(settings), last) << key.name;
    for (const KeyRow& other : key_rows()) {
      EXPECT_EQ(is_default(other, settings), &other != &key || last == key.get(Settings{}))
          << key.name << " " << other.name;
    }
  }
}

TEST(OpTable, bounds_are_written_for_every_number_of_a_form) {
  EXPECT_EQ(op_bounds(op_row(OpKind::decode)), "Q 1 to 4096, N 1 to 1000000");
  EXPECT_EQ(op_bounds(op_row(OpKind::load)), "N 1 to slots");
  EXPECT_EQ(op_bounds(op_row(OpKind::park)), "");
}

TEST(KeyTable, values_and_defaults_are_written_as_in_a_case) {
  EXPECT_EQ(key_values(*find_key("slots")), "1 to 4096");
  EXPECT_EQ(key_values(*find_key("device")), "any, sim, cuda");
  EXPECT_EQ(key_values(*find_key("cache")), "the name of a cache");
  const Settings settings{.cache = "counter:cpu_scalar", .slots = 8, .dtype = CaseDtype::bf16};
  EXPECT_EQ(key_value(*find_key("cache"), settings), "counter:cpu_scalar");
  EXPECT_EQ(key_value(*find_key("slots"), settings), "8");
  EXPECT_EQ(key_value(*find_key("dtype"), settings), "bf16");
}

/// The reference page, whose tables stand between marks that name them.
class ReferencePage : public testing::Test {
 protected:
  static std::string read() {
    std::ifstream file(THAW_CASE_PAGE, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Compares a table of the page with the one made here, or puts it there on request.
  static void check(const std::string& name, const std::string& table) {
    const std::string page = read();
    const std::string begin_mark = "<!-- table: " + name + " -->\n";
    const std::string end_mark = "<!-- end of table -->\n";
    const size_t mark = page.find(begin_mark);
    ASSERT_NE(mark, std::string::npos) << "no " << begin_mark << " in " << THAW_CASE_PAGE;
    const size_t begin = mark + begin_mark.size();
    const size_t end = page.find(end_mark, begin);
    ASSERT_NE(end, std::string::npos) << "no " << end_mark << " after " << begin_mark;
    if (std::getenv("THAW_UPDATE_EXPECTED") != nullptr) {
      std::ofstream file(THAW_CASE_PAGE, std::ios::binary);
      file << page.substr(0, begin) << table << page.substr(end);
      return;
    }
    EXPECT_EQ(page.substr(begin, end - begin), table)
        << "THAW_UPDATE_EXPECTED=1 writes the table into " << THAW_CASE_PAGE;
  }
};

TEST_F(ReferencePage, has_the_table_of_ops) { check("ops", ops_markdown()); }

TEST_F(ReferencePage, has_the_table_of_keys) { check("keys", keys_markdown()); }

TEST_F(ReferencePage, has_the_table_of_kinds) { check("kinds", kinds_markdown()); }

}  // namespace
}  // namespace thaw
