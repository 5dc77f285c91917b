#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

using namespace std::string_literals;

const Told kKernelRecord{.text = "NVRM: Xid",
                         .host = "gpu-node-17",
                         .wall = "2026-03-05T02:47:11.118204Z",
                         .uptime_us = 8423118204};

TEST(JournalJson, IsReadInAllShapesOfItsMessage) {
  Told program = kKernelRecord;
  program.text = "msg";
  program.from_user_space = true;
  program.uptime_us = -1;
  const UnwrapCase cases[] = {
      {"F11 the kernel's",
       R"({"_HOSTNAME":"gpu-node-17","__REALTIME_TIMESTAMP":"1772678831118204","PRIORITY":"4",)"
       R"("__MONOTONIC_TIMESTAMP":"9000000000","_SOURCE_MONOTONIC_TIMESTAMP":"8423118204",)"
       R"("SYSLOG_IDENTIFIER":"kernel","SYSLOG_FACILITY":"0","_TRANSPORT":"kernel",)"
       R"("_KERNEL_DEVICE":"+pci:0000:3b:00.0","MESSAGE":"NVRM: Xid"})",
       kKernelRecord},
      {"F11 a program's",
       R"({"MESSAGE":"msg","_HOSTNAME":"gpu-node-17","__REALTIME_TIMESTAMP":"1772678831118204",)"
       R"("SYSLOG_IDENTIFIER":"python3"})",
       program},
      {"F11 a program that writes to the kernel's log",
       R"({"MESSAGE":"msg","_HOSTNAME":"gpu-node-17","__REALTIME_TIMESTAMP":"1772678831118204",)"
       R"("SYSLOG_IDENTIFIER":"kernel","_TRANSPORT":"kernel","SYSLOG_FACILITY":"3"})",
       program},
      {"F11 the sender's own time",
       R"({"MESSAGE":"msg","_HOSTNAME":"gpu-node-17","__REALTIME_TIMESTAMP":"1772678839000000",)"
       R"("_SOURCE_REALTIME_TIMESTAMP":"1772678831118204","_TRANSPORT":"stdout"})",
       program},
      {"F11 bytes",
       R"({"MESSAGE":[110,27,91,51,49,109,111,255],"_HOSTNAME":"n"})",
       {.text = "no\xff", .host = "n"}},
      {"F11 a message that occurs twice",
       R"({"MESSAGE":["3: a"],"_HOSTNAME":"n"})",
       {.text = "a", .host = "n", .rank = 3}},
      {"F11 numbers that are none",
       R"({"MESSAGE":"a","_HOSTNAME":"n","__REALTIME_TIMESTAMP":"soon"})",
       {.text = "a", .host = "n"}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(JournalJson, ARecordOfSeveralLinesBecomesSeveralMessages) {
  EXPECT_EQ(unwrap_all({R"({"MESSAGE":"a\nb\n","_HOSTNAME":"n"})"}),
            (std::vector<Told>{{.text = "a", .host = "n"}, {.text = "b", .host = "n"}}));
}

TEST(JournalJson, AMessageTooLargeForJournalctlSaysNothing) {
  EXPECT_EQ(unwrap_all({R"({"MESSAGE":null,"_HOSTNAME":"n"})"}), std::vector<Told>{});
}

TEST(JournalJson, LeavesAloneWhatIsNoRecord) {
  for (const char* line : {
           R"({"MESSAGE":"a","_HOSTNAME":"n")",
           R"({"MESSAGE":"a","_HOSTNAME":)",
           R"({"MESSAGE":{"a":1},"_HOSTNAME)",
           R"({"MESSAGE":[300],"_HOSTNAME":"n"})",
           R"({"MESSAGE":[[1]],"_HOSTNAME":"n"})",
           R"({"MESSAGE":7})",
       }) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
}

// A value as `-o export` writes it if it is not plain text: its length comes first.
std::vector<std::string> binary_field(const std::string& key, const std::string& value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 64; shift += 8)
    bytes += static_cast<char>(value.size() >> shift & 0xff);
  bytes += value;
  std::vector<std::string> lines{key};
  std::size_t begin = 0;
  for (std::size_t end; (end = bytes.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(bytes.substr(begin, end - begin));
  lines.push_back(bytes.substr(begin));
  return lines;
}

std::vector<std::string> export_record(const std::vector<std::string>& message) {
  std::vector<std::string> lines{"__CURSOR=s=1;i=2",
                                 "__REALTIME_TIMESTAMP=1772678831118204",
                                 "__MONOTONIC_TIMESTAMP=9000000000",
                                 "_SOURCE_MONOTONIC_TIMESTAMP=8423118204",
                                 "_HOSTNAME=gpu-node-17",
                                 "SYSLOG_IDENTIFIER=kernel",
                                 "SYSLOG_FACILITY=0"};
  lines.insert(lines.end(), message.begin(), message.end());
  lines.insert(lines.end(), {"_TRANSPORT=kernel", ""});
  return lines;
}

TEST(JournalExport, RecordsEndAtABlankLine) {
  std::vector<std::string> lines = export_record({"MESSAGE=NVRM: Xid"});
  const std::vector<std::string> again = export_record({"MESSAGE=NVRM: Xid"});
  lines.insert(lines.end(), again.begin(), again.end());
  EXPECT_EQ(unwrap_all(lines), (std::vector<Told>{kKernelRecord, kKernelRecord}));
}

TEST(JournalExport, BinaryValuesAreReadByTheirLength) {
  Told first = kKernelRecord;
  Told second = kKernelRecord;
  first.text = "one";
  second.text = "MESSAGE=two";
  EXPECT_EQ(unwrap_all(export_record(binary_field("MESSAGE", "one\n\nMESSAGE=two\n"))),
            (std::vector<Told>{first, second}));
}

TEST(JournalExport, ALengthMayContainALineBreak) {
  Told ten = kKernelRecord;
  ten.text = "0123456789";
  EXPECT_EQ(unwrap_all(export_record(binary_field("MESSAGE", ten.text))), std::vector<Told>{ten});
}

TEST(JournalExport, OtherBinaryValuesAreSkippedHoweverLong) {
  std::vector<std::string> message =
      binary_field("COREDUMP", std::string(3'000'000, 'x') + "\n\nx");
  message.push_back("MESSAGE=NVRM: Xid");
  EXPECT_EQ(unwrap_all(export_record(message)), std::vector<Told>{kKernelRecord});
}

TEST(JournalExport, AnEmptyBinaryValueIsNoEnd) {
  std::vector<std::string> message = binary_field("OTHER", "");
  message.push_back("MESSAGE=NVRM: Xid");
  EXPECT_EQ(unwrap_all(export_record(message)), std::vector<Told>{kKernelRecord});
}

TEST(JournalExport, ATornRecordIsGivenAndTheNextLineIsRead) {
  EXPECT_EQ(unwrap_all({"__CURSOR=s=1", "_HOSTNAME=n", "MESSAGE=a", "3: plain text"}),
            (std::vector<Told>{{.text = "a", .host = "n"}, {.text = "plain text", .rank = 3}}));
  EXPECT_EQ(unwrap_all({"__CURSOR=s=1", "MESSAGE=a", "__CURSOR=s=2", "MESSAGE=b", ""}),
            (std::vector<Told>{{.text = "a"}, {.text = "b"}}));
  EXPECT_EQ(unwrap_all({"__CURSOR=s=1", "MESSAGE", "\x01\0\0\0\0\0\0\0toolong"s}),
            (std::vector<Told>{{.text = "\x01toolong"}}));
  EXPECT_EQ(unwrap_all({"__CURSOR=s=1", "MESSAGE", std::string(8, '\x7f'), "next"}),
            (std::vector<Told>{{.text = std::string(8, '\x7f')}, {.text = "next"}}));
}

TEST(JournalExport, TheLastRecordNeedsNoBlankLine) {
  EXPECT_EQ(unwrap_all({"__CURSOR=s=1", "MESSAGE=a"}), (std::vector<Told>{{.text = "a"}}));
}

}  // namespace
}  // namespace faultline
