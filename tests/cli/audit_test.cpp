// SPDX-License-Identifier: Apache-2.0
//
// thaw audit: the text, the document, the exit statuses.

#include <gtest/gtest.h>

#include <string>

#include "cli/program.h"
#include "cli/schema.h"

namespace thaw {
namespace {

TEST(AuditCommand, says_what_being_clean_means_and_what_it_does_not_prove) {
  Sandbox box;
  const Finished run = box.run({"audit", "static"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  expect_text("audit_clean.txt", run.out);
}

TEST(AuditCommand, shows_each_frozen_argument_with_what_it_follows) {
  Sandbox box;
  const Finished run = box.run({"audit", "counter:host_int", "counter:cpu_scalar"});
  EXPECT_EQ(run.status, 1);
  expect_text("audit_frozen.txt", run.out);
}

TEST(AuditCommand, shows_who_recorded_it_where_asked) {
  Sandbox box;
  const Finished run = box.run({"audit", "counter:host_int", "--where"});
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("recorded by  thaw::CounterCache::begin_step(long, long)"),
            std::string::npos)
      << run.out;
  EXPECT_EQ(run.out.find("Subject::capture"), std::string::npos) << run.out;
}

TEST(AuditCommand, as_json_fits_its_schema) {
  Sandbox box;
  const Finished run = box.run({"audit", "static", "counter:host_int", "counter:device_rebind",
                                "--json", "--where", "--set", "layers=2"});
  EXPECT_EQ(run.status, 1);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(schema_errors(document, "audit.schema.json#"), std::vector<std::string>{});
  EXPECT_EQ(document["audits"][0]["status"], "clean");
  EXPECT_EQ(document["audits"][1]["status"], "frozen");
  EXPECT_EQ(document["audits"][1]["frozen"][0]["value"], "5");
}

TEST(AuditCommand, one_row_is_an_audit_without_live_rows_and_says_so) {
  Sandbox box;
  const Finished run = box.run({"audit", "static", "--set", "rows=1"});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("not compared: the live rows: there is one row"), std::string::npos);
}

TEST(AuditCommand, bad_settings_and_names_are_bad_input) {
  Sandbox box;
  for (const auto& arguments : {std::vector<std::string>{"audit", "statik"},
                                {"audit"},
                                {"audit", "static", "--set", "slots"},
                                {"audit", "static", "--set", "slots=8"},
                                {"audit", "static", "--set", "no_such_key=8"}}) {
    const Finished run = box.run(arguments);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err, "");
  }
}

}  // namespace
}  // namespace thaw
