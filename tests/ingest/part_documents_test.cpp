// Reports of tools on parts of a machine in unusual forms: among other output, from several hosts
// at a time, torn, without bounds. The usual forms are in golden_documents/.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ingest/reader.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Batch read(std::string_view text) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(text);
  reader.close();
  return reader.take();
}

std::vector<PartReport> parts_in(const Batch& batch) {
  std::vector<PartReport> parts;
  for (const Event& event : batch.events)
    if (const auto* part = std::get_if<PartReport>(&event.fact)) parts.push_back(*part);
  return parts;
}

std::vector<PartReport> parts_in(std::string_view text) { return parts_in(read(text)); }

std::string found(const std::vector<NamedValue>& values, std::string_view name) {
  const auto at = std::ranges::find(values, name, &NamedValue::name);
  return at == values.end() ? "(none)" : at->value;
}

TEST(PartDocuments, AReportIsOfTheHostWhoseLinesItStandsOn) {
  const Batch batch = read(
      "gpu-7  | GPU 00000000:53:00.0\n"
      "gpu-7  |     GPU Recovery Action                   : Reset\n"
      "gpu-8  | GPU 00000000:53:00.0\n"
      "gpu-8  |     GPU Recovery Action                   : None\n"
      "gpu-9  | nothing\n");
  ASSERT_THAT(batch.events, SizeIs(2));
  EXPECT_EQ(batch.speakers[batch.events[0].speaker].host, "gpu-7");
  EXPECT_EQ(batch.speakers[batch.events[1].speaker].host, "gpu-8");
  EXPECT_EQ(found(parts_in(batch)[0].values, "GPU Recovery Action"), "Reset");
}

TEST(PartDocuments, TheLinesOfAnotherHostAreNotReadIntoAReport) {
  const auto parts = parts_in(
      "gpu-7  | GPU 00000000:53:00.0\n"
      "gpu-7  |     Remapped Rows\n"
      "gpu-8  |         Pending                           : Yes\n"
      "gpu-7  |         Pending                           : No\n");
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(found(parts[0].values, "Remapped Rows / Pending"), "No");
}

TEST(PartDocuments, AnInterfacesNumberIsNoRank) {
  const Batch batch = read(
      "4: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP\n"
      "5: ib0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 4092 qdisc mq state UP\n");
  ASSERT_THAT(batch.events, SizeIs(2));
  for (const Event& event : batch.events) EXPECT_EQ(batch.speakers[event.speaker].rank, -1);
  EXPECT_EQ(found(parts_in(batch)[0].names, "netdev"), "eth0");
}

TEST(PartDocuments, SrunsLabelIsTakenOffAnInterfacesLine) {
  const auto parts = parts_in("3: 4: eth0: <BROADCAST,UP> mtu 9000 qdisc mq state UP\n");
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(found(parts[0].values, "mtu"), "9000");
}

TEST(PartDocuments, OtherOutputInTheMidstIsLeftToOthers) {
  const Batch batch = read(
      "GPU 00000000:53:00.0\n"
      "    ECC Errors\n"
      "        Volatile\n"
      "gpu-7:123:456 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.7<0>\n"
      "[  812.5] NVRM: Xid (PCI:0000:53:00): 48, pid=1, name=python3, DBE\n"
      "            DRAM Uncorrectable            : 1\n");
  const auto parts = parts_in(batch);
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(found(parts[0].values, "ECC Errors / Volatile / DRAM Uncorrectable"), "1");
  EXPECT_TRUE(std::ranges::any_of(
      batch.events, [](const Event& event) { return std::holds_alternative<GpuXid>(event.fact); }));
}

TEST(PartDocuments, WithoutIndentationNoValueIsPutInASection) {
  const auto parts = parts_in(
      "GPU 00000000:53:00.0\n"
      "Remapped Rows\n"
      "Pending                           : Yes\n"
      "Minor Number                      : 0\n");
  EXPECT_THAT(parts, IsEmpty());
}

TEST(PartDocuments, ALineOfJobOutputWithAsManyCommasIsNoRow) {
  const auto parts = parts_in(
      "index, utilization.gpu [%], memory.used [MiB]\n"
      "0, 100 %, 71204 MiB\n"
      "step 41, loss 2.13, lr 0.0003\n"
      "1, 0 %, 8 MiB\n");
  ASSERT_THAT(parts, SizeIs(3));
  EXPECT_EQ(parts[1].tool, "script");  // a step of the job
  EXPECT_EQ(found(parts[2].names, "index"), "1");
}

TEST(PartDocuments, ATableThatIsNoGpusIsLeftAlone) {
  for (const char* text :
       {"index, name, loss\n0, a, 2.13\n", "epoch, loss, accuracy\n1, 2.1, 0.3\n",
        "| GPU  | Name |\n| 0 | x |\n", "GPU 0: out of memory\n Link 0: 25 GB/s\n",
        "Connection to the database port [tcp/*] succeeded!\n", "12 packets\n",
        "{\"start\": 1, \"end\": 2}\n", "{\"body\": {\"text\": \"GPU\"}}\n"})
    EXPECT_THAT(parts_in(text), IsEmpty()) << text;
}

TEST(PartDocuments, AMetricThatIsNotANumberIsNoValue) {
  EXPECT_THAT(parts_in("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu=\"0\"} NaN\n"
                       "DCGM_FI_DEV_XID_ERRORS{gpu=\"0\"} inf\n"),
              IsEmpty());
  const auto parts = parts_in("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu=\"0\"} 4\n");
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(found(parts[0].values, "clocks_event_reasons.active"), "0x4");
}

TEST(PartDocuments, ARootElementWithATextIsAnEmptyReport) {
  EXPECT_THAT(parts_in("<nvidia_smi_log>x</nvidia_smi_log>\n"), IsEmpty());
}

TEST(PartDocuments, JsonThatTurnsOutToBeNobodysIsLeftToOthers) {
  const Batch batch = read(
      "{\"start\": \"x\", \"log\": \"[ 8.5] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the "
      "bus.\"}\n");
  EXPECT_THAT(parts_in(batch), IsEmpty());
  EXPECT_FALSE(batch.dialects.contains("iperf3"));
}

TEST(PartDocuments, APingThatWasBrokenOffSaysOnlyWhatWentWrong) {
  EXPECT_THAT(parts_in("PING gpu-8 (10.0.0.8) 8972(9000) bytes of data.\n"
                       "8980 bytes from 10.0.0.8: icmp_seq=1 ttl=64 time=0.061 ms\n"),
              IsEmpty());
  const auto parts = parts_in(
      "PING gpu-8 (10.0.0.8) 8972(9000) bytes of data.\n"
      "From 10.0.1.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)\n");
  ASSERT_THAT(parts, SizeIs(1));
  EXPECT_EQ(found(parts[0].values, "error"), "Frag needed and DF set (mtu = 1500)");
}

TEST(PartDocuments, WhatTheEndOfASourceMayHaveCutIsNotBelieved) {
  const auto rows = parts_in(
      "index, memory.used [MiB], pcie.link.width.current\n"
      "0, 71204 MiB, 16\n"
      "1, 71204 MiB, 1");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(found(rows[0].values, "pcie.link.width.current"), "16");
  EXPECT_EQ(found(rows[1].values, "memory.used"), "71204");
  EXPECT_EQ(found(rows[1].values, "pcie.link.width.current"), "(none)");

  const auto interfaces = parts_in("4: eth0: <BROADCAST,UP> mtu 90");
  ASSERT_THAT(interfaces, SizeIs(1));
  EXPECT_EQ(found(interfaces[0].values, "mtu"), "(none)");

  const auto gpus = parts_in(
      "GPU 00000000:53:00.0\n"
      "    Product Name                          : NVIDIA H100\n"
      "    GPU Recovery Action                   : No");
  ASSERT_THAT(gpus, SizeIs(1));
  EXPECT_EQ(found(gpus[0].values, "GPU Recovery Action"), "(none)");

  EXPECT_THAT(parts_in("ping: local error: message too long, mtu=14"), IsEmpty());
  EXPECT_THAT(parts_in("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV1"), IsEmpty());
}

TEST(PartDocuments, SamplesOfALoopAreReportsOfTheirOwn) {
  std::string text;
  for (int i = 0; i < 3; ++i)
    text += fmt::format(
        "Every 1.0s: nvidia-smi nvlink -e\n"
        "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaaabbbb-0000-1111-2222-333344445555)\n"
        "\t Link 0: Replay Errors: {}\n",
        i);
  std::vector<std::string> replays;
  for (const PartReport& part : parts_in(text))
    if (part.kind == "nvlink") replays.push_back(found(part.values, "Replay Errors"));
  EXPECT_THAT(replays, ElementsAre("0", "1", "2"));
}

TEST(PartDocuments, ReportsWithoutEndTakeBoundedMemory) {
  std::string sections = "GPU 00000000:53:00.0\n    ECC Errors\n";
  for (int i = 0; i < 20'000; ++i) sections += fmt::format("        Key {} : {}\n", i, i);
  std::string links = "GPU 0: NVIDIA H100 (UUID: GPU-aaaabbbb-0000-1111-2222-333344445555)\n";
  for (int i = 0; i < 20'000; ++i) links += fmt::format("\t Link {}: 25 GB/s\n", i);
  std::string packets;
  for (int i = 0; i < 20'000; ++i)
    packets +=
        fmt::format("08:10:20.101945 IP 10.0.0.7.45370 > 10.1.{}.{}.15211: Flags [S], length 0\n",
                    i / 250, i % 250);
  std::string tests = "Successfully ran diagnostic for group.\n| Big | Fail |\n";
  for (int i = 0; i < 20'000; ++i) tests += "|     | and on it goes, and on, and on |\n";
  for (const std::string& text : {sections, links, packets, tests}) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(text);
    EXPECT_LT(reader.cursor().carry.size(), 400'000U) << text.substr(0, 60);
    reader.close();
    EXPECT_FALSE(parts_in(reader.take()).empty());
  }
}

}  // namespace
}  // namespace faultline
