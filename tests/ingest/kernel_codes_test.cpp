// Every code of the catalog, in all framings of kernel lines.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ingest/reader.h"

namespace faultline {
namespace {

std::vector<int> codes_of(const std::string& file) {
  std::ifstream rows(std::string(TESTS_DIR) + "/../rules/knowledge/catalog/" + file);
  std::vector<int> codes;
  std::string row;
  while (std::getline(rows, row))
    if (!row.empty() && row[0] >= '0' && row[0] <= '9') codes.push_back(std::stoi(row));
  return codes;
}

std::vector<std::string> framings(const std::string& message) {
  return {
      "[ 8423.118204] " + message,
      "[Thu Mar  5 02:47:11 2026] " + message,
      "kern  :warn  : [ 8423.118204] " + message,
      "4,20931,8423118204,-,caller=T4127;" + message,
      "Mar 05 02:47:11 gpu-node-17 kernel: " + message,
      "<4>1 2026-03-05T02:47:11.118204+00:00 gpu-node-17 kernel - - - " + message,
      fmt::format(R"({{"MESSAGE":"{}","_HOSTNAME":"n","SYSLOG_IDENTIFIER":"kernel",)"
                  R"("_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1772678831123456"}})",
                  message),
      "[ 8423.118204] " + message + "\r",
  };
}

std::vector<Event> read(const std::string& line) {
  Reader reader(Cursor{}, *parse_rfc3339("2026-03-10T12:00:00Z"));
  reader.feed(line + "\n");
  reader.close();
  return reader.take().events;
}

TEST(KernelCodes, EveryXidIsReadInEveryFramingAndForm) {
  const std::vector<int> codes = codes_of("xid.csv");
  ASSERT_EQ(codes.size(), 177U);
  for (const int code : codes)
    for (const char* form :
         {"NVRM: Xid (PCI:0000:3b:00): {}, pid=41277, name=python3, a text",
          "NVRM: Xid (PCI:0000:3b:00): {}, a text", "NVRM: Xid (0000:3b:00): {}, "})
      for (const std::string& line : framings(fmt::format(fmt::runtime(form), code))) {
        const std::vector<Event> events = read(line);
        ASSERT_EQ(events.size(), 1U) << line;
        const auto* xid = std::get_if<GpuXid>(&events[0].fact);
        ASSERT_NE(xid, nullptr) << line;
        EXPECT_EQ(xid->code, code) << line;
        EXPECT_EQ(xid->gpu, "0000:3b:00.0") << line;
      }
}

TEST(KernelCodes, EverySxidIsReadInEveryFramingAndForm) {
  const std::vector<int> codes = codes_of("sxid.csv");
  ASSERT_EQ(codes.size(), 400U);
  for (const int code : codes)
    for (const char* form :
         {"nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): {:05}, Non-fatal, Link 32 a text (First)",
          "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): {:05}, a text"})
      for (const std::string& line : framings(fmt::format(fmt::runtime(form), code))) {
        const std::vector<Event> events = read(line);
        ASSERT_EQ(events.size(), 1U) << line;
        const auto* error = std::get_if<SwitchError>(&events[0].fact);
        ASSERT_NE(error, nullptr) << line;
        EXPECT_EQ(error->code, code) << line;
        EXPECT_EQ(error->nvswitch, "0000:c1:00.0") << line;
      }
}

TEST(KernelCodes, WhatAProgramQuotesIsNoReport) {
  EXPECT_TRUE(
      read("<30>[ 8423.2] python3: nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Fatal, "
           "Link 1 x")
          .empty());
  // The fabric manager is a program, but it reports faults of its own.
  EXPECT_EQ(read("Mar 05 02:47:12 gpu-node-17 nv-fabricmanager[811]: detected NVSwitch fatal error "
                 "20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 physical id 3 port 33")
                .size(),
            1U);
}

TEST(KernelCodes, ARepeatedMessageCountsAsOften) {
  const std::vector<Event> events = read(
      "Mar  5 02:47:11 gpu-node-17 kernel: message repeated 3 times: [ nvidia-nvswitch0: SXid "
      "(PCI:0000:c1:00.0): 20001, Non-fatal, Link 07 TX Replay Error]");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<SwitchError>(events[0].fact).repeated, 3);
}

TEST(KernelCodes, LinesThatJournaldMissedAreTold) {
  const std::vector<Event> events =
      read("Mar 05 02:47:12 gpu-node-17 systemd-journald[512]: Missed 123 kernel messages");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<LinesLost>(events[0].fact).lines, 123);
}

TEST(KernelCodes, ABootTimeThatTheSenderKnowsIsPassedOnOnceWhereAStampNeedsIt) {
  Reader reader(Cursor{}, Timestamp{});
  reader.set_boot_time(Timestamp{std::chrono::seconds(1'772'670'408)});
  reader.feed(
      "[ 8423.100000] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n"
      "[ 8424.100000] NVRM: Xid (PCI:0000:3b:00): 45, Ch 00000008\n");
  reader.close();
  const std::vector<Event> events = reader.take().events;
  ASSERT_EQ(events.size(), 3U);
  const auto* clock = std::get_if<ClockReading>(&events[0].fact);
  ASSERT_NE(clock, nullptr);
  EXPECT_EQ(clock->wall_us, 1'772'670'408'000'000);
  EXPECT_EQ(events[0].time.uptime_us, 0);

  Reader dated(Cursor{}, Timestamp{});
  dated.set_boot_time(Timestamp{std::chrono::seconds(1'772'670'408)});
  dated.feed("Mar 05 02:47:11 n kernel: NVRM: Xid (PCI:0000:3b:00): 45, Ch 00000008\n");
  dated.close();
  EXPECT_EQ(dated.take().events.size(), 1U);
}

}  // namespace
}  // namespace faultline
