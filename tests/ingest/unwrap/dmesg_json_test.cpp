#include "ingest/unwrap/dmesg_json.h"

#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

// `dmesg --json` as util-linux prints it.
std::vector<std::string> pretty() {
  return {
      "{",
      "   \"dmesg\": [",
      "      {",
      "         \"pri\": 4,",
      "         \"time\":  8423.118204,",
      "         \"msg\": \"NVRM: Xid (PCI:0000:3b:00): 79, name=\\\"x\\\"\"",
      "      },{",
      "         \"fac\": \"daemon\",",
      "         \"pri\": \"info\",",
      "         \"time\":     0.000001,",
      "         \"caller\": \"T1\",",
      "         \"msg\": \"systemd[1]: x\"",
      "      }",
      "   ]",
      "}",
  };
}

const std::vector<Told> kBoth{
    {.text = "NVRM: Xid (PCI:0000:3b:00): 79, name=\"x\"", .uptime_us = 8423118204},
    {.text = "systemd[1]: x", .from_user_space = true, .uptime_us = 1}};

TEST(DmesgJson, IsReadOverManyLines) {
  std::vector<Told> expected{{.text = "{"}};
  expected.insert(expected.end(), kBoth.begin(), kBoth.end());
  std::vector<std::string> lines = pretty();
  EXPECT_EQ(unwrap_all(lines), expected);

  lines.push_back("[rank3]: after the document");
  expected.push_back({.text = "after the document", .rank = 3});
  EXPECT_EQ(unwrap_all(lines), expected);
}

TEST(DmesgJson, IsReadUnderALaunchersLabel) {
  std::vector<std::string> lines = pretty();
  for (std::string& line : lines) line.insert(0, "3: ");
  std::vector<Told> expected{{.text = "{", .rank = 3}};
  expected.insert(expected.end(), kBoth.begin(), kBoth.end());
  for (Told& told : expected) told.rank = 3;
  EXPECT_EQ(unwrap_all(lines), expected);
}

TEST(DmesgJson, IsReadFromOneLine) {
  EXPECT_EQ(
      unwrap_all({R"({"dmesg":[{"pri":4,"time":  8423.118204,"msg":"NVRM: Xid (PCI:0000:3b:00): )"
                  R"(79, name=\"x\""},{"fac":"daemon","pri":"info","time":     0.000001,)"
                  R"("msg":"systemd[1]: x"}]})"}),
      kBoth);
}

TEST(DmesgJson, AProgramsPriorityIsAProgramsEvenWithoutAFacility) {
  EXPECT_EQ(unwrap_all({R"({"dmesg":[{"pri":30,"time":1.000000,"msg":"a\nb"}]})"}),
            (std::vector<Told>{{.text = "a", .from_user_space = true, .uptime_us = 1'000'000},
                               {.text = "b", .from_user_space = true, .uptime_us = 1'000'000}}));
}

TEST(DmesgJson, ABrokenDocumentGivesWhatItHasAndTheNextLineIsRead) {
  std::vector<std::string> lines = pretty();
  lines.resize(6);
  std::vector<Told> expected{{.text = "{"}, kBoth[0]};
  EXPECT_EQ(unwrap_all(lines), expected);

  lines.push_back("3: spliced in");
  expected.insert(expected.begin() + 1, {.text = "spliced in", .rank = 3});
  EXPECT_EQ(unwrap_all(lines), expected);
}

TEST(DmesgJson, AMessageIsNotTakenForTheDocumentItStandsIn) {
  EXPECT_EQ(unwrap_all({"   \"dmesg\": [", "{", "\"msg\": \"}\"", "},{",
                        "\"msg\": \"\\\"msg\\\": 1\"", "}", "]", "}"}),
            (std::vector<Told>{{.text = "}"}, {.text = "\"msg\": 1"}}));
}

TEST(DmesgJson, OtherDocumentsPassUnchanged) {
  for (const char* line : {R"({"dmesg":[{"pri":4)", R"({"dmesg":7})", R"({"dmesg":[]})",
                           R"("dmesg": [ {)", R"(   "pri": 4,)", "      },{", "   ]", "}"})
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
}

}  // namespace
}  // namespace faultline
