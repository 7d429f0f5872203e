// SPDX-License-Identifier: Apache-2.0
// Parse and print are inverse, for cases that nobody thought of; and whatever bytes come, the
// answer is a case or one CaseError.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "case/case_text.h"
#include "case/op_table.h"
#include "case/random_case.h"

namespace thaw {
namespace {

/// Whether the text is a case. Anything but a CaseError is a failure of the test. What is accepted
/// survives printing.
bool accepted(const std::string& text) {
  try {
    const Case c = parse_case(text, "a.kv");
    EXPECT_EQ(parse_case(print_case(c), "printed"), c) << text;
    return true;
  } catch (const CaseError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("a.kv:", 0), 0u) << error.what();
    EXPECT_GE(error.position().line, 1);
    EXPECT_GE(error.position().column, 1);
    EXPECT_LT(std::string(error.what()).size(), 500u) << error.what();
  }
  return false;
}

TEST(RoundTrip, five_thousand_random_cases_survive_printing_and_reading) {
  RandomCaseText random(20240607);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = random.draw();
    const Case c = parse_case(text, "a.kv");
    const std::string printed = print_case(c);
    ASSERT_EQ(parse_case(printed, "printed"), c) << text << "\nprinted as\n" << printed;
    ASSERT_EQ(print_case(parse_case(printed, "printed")), printed) << text;
    const std::string canonical = canonical_form(c);
    ASSERT_EQ(canonical_form(parse_case(canonical, "canonical")), canonical) << text;
  }
}

TEST(RoundTrip, single_lines_printed_alone_are_the_lines_of_normal_form) {
  RandomCaseText random(7);
  for (int i = 0; i < 500; ++i) {
    const Case c = parse_case(random.draw(), "a.kv");
    const std::string printed = print_case(c);
    for (const Line<Op>& line : c.ops) {
      ASSERT_NE(printed.find("\n" + print_op(line.value)), std::string::npos);
    }
    for (const Line<Expect>& line : c.expects) {
      ASSERT_NE(printed.find("\nexpect " + print_expect(line.value)), std::string::npos);
    }
  }
}

TEST(HostileText, every_truncation_of_a_case_is_a_case_or_one_error) {
  RandomCaseText random(11);
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string text = random.draw();
    for (size_t size = 0; size < text.size(); ++size) {
      if (!accepted(text.substr(0, size))) ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(HostileText, cases_with_changed_bytes_are_cases_or_one_error) {
  RandomCaseText random(13);
  std::mt19937_64 bytes(17);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = random.draw();
    for (int changes = 1 + static_cast<int>(bytes() % 4); changes > 0; --changes) {
      const size_t at = bytes() % text.size();
      const char byte = static_cast<char>(bytes() % 3 == 0 ? bytes() : ' ' + bytes() % 95);
      switch (bytes() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, 1 + bytes() % 5);
      }
      if (text.empty()) break;
    }
    if (!accepted(text)) ++refused;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 5000);
}

TEST(HostileText, random_bytes_are_refused) {
  std::mt19937_64 bytes(19);
  for (int i = 0; i < 2000; ++i) {
    std::string text(bytes() % 200, '\0');
    for (char& byte : text) byte = static_cast<char>(bytes());
    EXPECT_FALSE(accepted(text));
    accepted("thaw case 1\n" + text);
  }
}

TEST(HostileText, lines_of_random_words_of_the_language_are_cases_or_one_error) {
  std::vector<std::string> words{
      "all", "clean", "expect", "thaw", "case",      "#",      "0",
      "1",   "5",     "17",     "-1",   "00",        "q=2",    "x3",
      "q=",  "x",     "g",      "@",    "slots@1.2", "static", "counter:host_int",
      "\n"};
  for (const OpRow& row : op_rows()) words.emplace_back(row.name);
  for (const KeyRow& key : key_rows()) words.emplace_back(key.name);
  std::mt19937_64 random(23);
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = "thaw case 1\n";
    for (size_t count = random() % 6; count > 0; --count) {
      text += words[random() % words.size()] + (random() % 4 == 0 ? "\n" : " ");
    }
    if (accepted(text)) ++taken;
  }
  EXPECT_GT(taken, 100);
}

}  // namespace
}  // namespace thaw
