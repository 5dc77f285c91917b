#include "ingest/reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "told.h"

namespace faultline {
namespace {

std::string call_line(int rank, int op, std::string_view name = "AllReduce", int count = 1024) {
  return fmt::format(
      "node-{}:{}:{} [{}] NCCL INFO {}: opCount {:x} sendbuff 0x7f00 recvbuff 0x7f00 count {} "
      "datatype 7 op 0 root 0 comm 0x55d0 [nranks=16] stream 0x55e0",
      rank / 8, 100 + rank, 900 + rank, rank % 8, name, op, count);
}

std::string init_line(int rank) {
  return fmt::format(
      "node-{}:{}:{} [{}] NCCL INFO ncclCommInitRank comm 0x55d0 rank {} nranks 16 cudaDev {} "
      "nvmlDev {} busId 3b000 commId 0xfa - Init COMPLETE",
      rank / 8, 100 + rank, 900 + rank, rank % 8, rank, rank % 8, rank % 8);
}

std::string time_out_on(const std::string& day) {
  return "[rank0]:[E" + day +
         " 05:39:29.610144615 ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective "
         "operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, "
         "Timeout(ms)=600000) ran for 600661 milliseconds before timing out.\n";
}

constexpr std::string_view kXid =
    "[41280.701551] NVRM: Xid (PCI:0000:3b:00): 79, pid=40224, name=python3, GPU has fallen off "
    "the bus.";

std::string read_whole(std::string_view text, Batch* counts = nullptr) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(text);
  reader.close();
  Batch batch = reader.take();
  if (counts != nullptr) *counts = batch;
  return told(batch);
}

std::string sample() {
  std::string text = "NCCL version 2.21.5+cuda12.4\n";
  for (int rank = 0; rank < 4; ++rank) text += init_line(rank) + "\n";
  for (int op = 0; op < 5; ++op)
    for (int rank = 0; rank < 4; ++rank) text += call_line(rank, op) + (op == 2 ? "\r\n" : "\n");
  text += "\n" + std::string(kXid) + "\nsome other line\n";
  text += R"({"log":")" + call_line(1, 9) +
          R"(\n","stream":"stdout","time":"2026-03-05T02:47:11.5Z"})" + "\n";
  text += "\x1b[36m(Worker pid=7, ip=10.0.0.9)\x1b[0m " + call_line(2, 10) + "\n";
  text += "5: " + call_line(5, 11) + "\n";
  return text;
}

TEST(Reader, CountsBlankLinesWhetherItReadsOrPassesThem) {
  const std::string xid = std::string(kXid) + "\n";
  const std::string text = "\n\n\n" + xid + "\n\n" + xid + "\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(std::string_view(text).substr(0, cut));
    reader.feed(std::string_view(text).substr(cut));
    reader.close();
    const Batch batch = reader.take();
    ASSERT_EQ(batch.lines, 8u) << cut;
    ASSERT_EQ(batch.to_offset, text.size()) << cut;
    ASSERT_EQ(batch.events.size(), 2u) << cut;
    EXPECT_EQ(batch.events[0].line, 4u) << cut;
    EXPECT_EQ(batch.events[1].line, 7u) << cut;
    EXPECT_EQ(batch.events[1].offset, 5 + xid.size()) << cut;
  }
}

TEST(Reader, ABlankLineEndsAWarningThatTheNextLineMightHaveGoneOnWith) {
  const std::string warning =
      "node-1:100:101 [0] transport/net_ib.cc:121 NCCL WARN Call to ibv_poll_cq failed\n";
  for (const auto& [text, events] : {std::pair(warning, 0U), std::pair(warning + "\n", 1U)}) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(text);
    reader.finish();
    reader.take();
    EXPECT_EQ(reader.rest().events.size(), 1U - events);
  }
}

TEST(Reader, ABlankLineInAJournalsExportEndsItsRecord) {
  const std::string record =
      "__REALTIME_TIMESTAMP=1772671631500000\n_HOSTNAME=node-3\n_TRANSPORT=kernel\nMESSAGE=" +
      std::string(kXid.substr(kXid.find("NVRM"))) + "\n\n";
  Batch batch;
  read_whole(record + "\n" + record, &batch);
  EXPECT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.lines, 11u);
}

TEST(Reader, TakesTheYearThatAStampLeavesOutFromStampsOfNcclsOwn) {
  Reader reader(Cursor{}, *parse_rfc3339("2026-11-22T12:00:00Z"));
  reader.feed("[2025-11-29 05:29:13] " + init_line(0) + "\n" + time_out_on("1129"));
  reader.close();
  const Batch batch = reader.take();
  ASSERT_EQ(batch.events.size(), 2U);
  EXPECT_EQ(to_rfc3339(*batch.events.back().time.wall()), "2025-11-29T05:39:29Z");
}

TEST(Reader, DoesNotTakeTheYearFromADateInTheFuture) {
  Reader reader(Cursor{}, *parse_rfc3339("2026-11-22T12:00:00Z"));
  reader.feed("2038-01-19 03:14:07 the certificate expires\n" + time_out_on("1120"));
  reader.close();
  const Batch batch = reader.take();
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_EQ(to_rfc3339(*batch.events.back().time.wall()), "2026-11-20T05:39:29Z");
}

TEST(Reader, ReadsCallsEventsAndWhatIsWrapped) {
  Batch counts;
  std::string all = read_whole(sample(), &counts);
  EXPECT_EQ(counts.lines, 31U);
  EXPECT_EQ(counts.recognized, 29U);
  EXPECT_EQ(counts.events.size(), 6U);
  EXPECT_EQ(counts.facts(), 29U);
  EXPECT_EQ(counts.dialects, (std::map<std::string, std::uint64_t>{{"kernel", 1}, {"nccl", 28}}));
  EXPECT_NE(all.find("AllReduce(count 1024, float32, sum) #9 on 55d0 of 16 by node-0:101"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("by node-0:105 [5] rank 5"), std::string::npos) << all;
}

TEST(Reader, DoesNotCareWhereThePiecesAreCut) {
  const std::string text = sample();
  const std::string expected = read_whole(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(std::string(text.substr(0, cut)));  // copies: nothing may point into a piece later
    reader.feed(std::string(text.substr(cut)));
    reader.close();
    ASSERT_EQ(told(reader.take()), expected) << "cut at " << cut;
  }
}

TEST(Reader, GoesOnFromACursorAsIfItHadNeverStopped) {
  const std::string text = sample();
  const std::string expected = read_whole(text);
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string all;
    Cursor cursor;
    while (cursor.offset < text.size()) {
      // Each reader gets some pieces; the next one gets again what this one did not take.
      Reader reader(cursor, Timestamp{});
      std::size_t at = cursor.offset;
      for (int piece = 0; piece < 3 && at < text.size(); ++piece) {
        std::size_t size = std::min<std::size_t>(1 + random() % 700, text.size() - at);
        reader.feed(std::string_view(text).substr(at, size));
        at += size;
        if (random() % 2 == 0) all += told(reader.take());
      }
      bool end = at == text.size();
      if (end || random() % 3 == 0) reader.finish();
      if (end) reader.close();
      all += told(reader.take());
      cursor = reader.cursor();
    }
    ASSERT_EQ(cursor.offset, text.size());
    ASSERT_EQ(cursor.lines, 31U);
    ASSERT_EQ(all, expected) << "round " << round;
  }
}

TEST(Reader, BatchesFollowEachOtherWithoutGaps) {
  const std::string text = sample();
  Reader reader(Cursor{}, Timestamp{});
  std::uint64_t offset = 0;
  std::uint64_t lines = 0;
  for (std::size_t at = 0; at < text.size(); at += 333) {
    reader.feed(std::string_view(text).substr(at, 333));
    std::uint64_t pending = reader.pending_bytes();
    Batch batch = reader.take();
    EXPECT_EQ(batch.from_offset, offset);
    EXPECT_EQ(batch.to_offset - batch.from_offset, pending);
    EXPECT_EQ(batch.first_line, lines + 1);
    offset = batch.to_offset;
    lines += batch.lines;
    EXPECT_EQ(reader.cursor().offset, offset);
    EXPECT_EQ(reader.cursor().lines, lines);
    EXPECT_LT(reader.cursor().carry.size(), 512U);  // the last date, and a row that may continue
  }
  EXPECT_EQ(offset, text.size());
}

TEST(Reader, ReadsALastLineWithoutANewlineOnceEvenIfItsRestArrives) {
  const std::string line = call_line(1, 3);
  for (std::size_t cut = 0; cut < line.size(); ++cut) {
    Reader first(Cursor{}, Timestamp{});
    first.feed(line.substr(0, cut));
    first.finish();
    Batch before = first.take();
    EXPECT_EQ(before.to_offset, cut);
    Reader second(first.cursor(), Timestamp{});
    second.feed(line.substr(cut) + "\n" + call_line(1, 4) + "\n");
    second.finish();
    Batch after = second.take();
    EXPECT_EQ(before.facts() + after.facts(), 2U) << "cut at " << cut;
    EXPECT_EQ(before.lines + after.lines, 2U) << "cut at " << cut;
    EXPECT_EQ(second.cursor().offset, line.size() + 1 + call_line(1, 4).size() + 1);
  }
}

TEST(Reader, ReadsAPieceThatIsLeftWaitingAtTheEndInWhateverBatch) {
  const std::string piece = "2024-05-01T12:34:57Z stdout P " + call_line(1, 3) + "\n";
  const std::string whole = read_whole("first line\n" + piece);
  EXPECT_EQ(whole.substr(0, 5), "2@11 ");
  Reader reader(Cursor{}, Timestamp{});
  reader.feed("first line\n" + piece);
  EXPECT_EQ(told(reader.take()), "");
  reader.close();
  EXPECT_EQ(told(reader.take()), whole);
}

TEST(Reader, ATornLastLineIsNoCall) {
  Batch counts;
  std::string whole = call_line(0, 1) + "\n";
  EXPECT_EQ(read_whole(whole + call_line(0, 2).substr(0, 80), &counts), read_whole(whole));
  EXPECT_EQ(counts.lines, 2U);
}

TEST(Reader, SkipsALineThatIsTooLongAndGoesOn) {
  const std::string megabyte(std::size_t{1} << 20, 'x');
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(call_line(0, 1) + "\n");
  for (int i = 0; i < 100; ++i) reader.feed(megabyte);
  reader.feed("\n" + call_line(0, 2) + "\n");
  Batch batch = reader.take();
  EXPECT_EQ(batch.lines, 3U);
  EXPECT_EQ(batch.skipped, 1U);
  EXPECT_EQ(batch.facts(), 2U);
}

TEST(Reader, GoesOnAfterStoppingInsideALineThatIsTooLong) {
  const std::string megabyte(std::size_t{1} << 20, 'x');
  Reader first(Cursor{}, Timestamp{});
  first.feed(megabyte);
  first.feed(megabyte);
  first.finish();
  Batch before = first.take();
  EXPECT_EQ(before.to_offset, 2 * megabyte.size());
  EXPECT_LT(first.cursor().carry.size(), 100U);
  Reader second(first.cursor(), Timestamp{});
  second.feed("xx " + std::string(kXid) + "\n" + call_line(0, 2) + "\n");
  Batch after = second.take();
  EXPECT_EQ(after.facts(), 1U) << "the end of the long line is no line of its own";
  EXPECT_EQ(before.lines + after.lines, 2U);
}

TEST(Reader, CountsBinaryNoiseAndGoesOn) {
  Batch counts;
  using namespace std::string_literals;
  read_whole(call_line(0, 1) + "\n\0\0\x01\xff\0garbage\0\n"s + call_line(0, 2) + "\n", &counts);
  EXPECT_EQ(counts.lines, 3U);
  EXPECT_EQ(counts.skipped, 1U);
  EXPECT_EQ(counts.facts(), 2U);
}

TEST(Reader, KeepsTheLastLineOfARunAsItStands) {
  Batch counts;
  read_whole(call_line(0, 1) + "\n" + call_line(0, 2) + "\r\n", &counts);
  ASSERT_EQ(counts.runs.size(), 1U);
  EXPECT_EQ(counts.runs[0].last_text, call_line(0, 2));
  EXPECT_EQ(counts.runs[0].calls.size(), 2U);
}

// Secrets are hidden in a copy of the line, which the next such line overwrites.
TEST(Reader, TheLastLineOfARunStaysItsOwnIfSecretsAreHiddenInTheNextLineToo) {
  const auto record = [](int rank, const std::string& more) {
    return R"({"message":")" + call_line(rank, 1) +
           R"(","token":"ghp_16C7e42F292c6912E7710c838347Ae178B4a","more":")" + more + "\"}\n";
  };
  Batch batch;
  read_whole(record(0, "") + record(9, std::string(3000, 'x')), &batch);
  ASSERT_EQ(batch.runs.size(), 2U);
  EXPECT_NE(batch.runs[0].last_text.find("node-0:100:900 "), std::string::npos);
  EXPECT_NE(batch.runs[1].last_text.find("node-1:109:909 "), std::string::npos);
}

TEST(Reader, ARowBelowAHeadingKeepsTheHostOfItsHeadingIfItHoldsAnotherHeading) {
  const std::string told = read_whole(
      "Message from syslogd@gpu-node-0000000017 at Mar  5 02:47:11 ...\n"
      " NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\r"
      "Message from syslogd@gpu-node-with-a-longer-name-than-before-000018 at Mar  5 02:47:11 "
      "...\n");
  EXPECT_NE(told.find("gpu-node-0000000017"), std::string::npos) << told;
}

TEST(Reader, ManyProgressBarsInOneLineDoNotExhaustTheStack) {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "1%|| 1/1 [,] ";  // less than the longest line
  Batch batch;
  read_whole(text + "\n" + std::string(kXid) + "\n", &batch);
  EXPECT_EQ(batch.skipped, 0U);
  EXPECT_EQ(batch.lines, 2U);
  ASSERT_FALSE(batch.events.empty());
  EXPECT_EQ(batch.events.back().line, 2U);
}

TEST(Reader, DoesNotMoveCallsAcrossTheEndOfTheirCommunicator) {
  Batch counts;
  read_whole(call_line(0, 1) + "\n" + init_line(0) + "\n" + call_line(0, 2) + "\n", &counts);
  ASSERT_EQ(counts.runs.size(), 2U);
  ASSERT_EQ(counts.events.size(), 1U);
  EXPECT_LT(counts.runs[0].order, counts.events[0].order);
  EXPECT_LT(counts.events[0].order, counts.runs[1].order);
}

TEST(Reader, OperationsOfTheProgramCompareEqualWhateverTheirNumber) {
  std::string a = call_line(0, 1);
  std::string b = call_line(0, 2);
  a.replace(a.find("op 0"), 4, "op 2147480001");
  b.replace(b.find("op 0"), 4, "op 1147480777");
  Batch counts;
  read_whole(a + "\n" + b + "\n", &counts);
  EXPECT_EQ(counts.signatures.size(), 1U);
}

TEST(Reader, AnXidThatAProgramWroteIsNoXid) {
  Batch counts;
  read_whole("<30>[ 100.5] python: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n",
             &counts);
  EXPECT_EQ(counts.facts(), 0U);
}

TEST(Reader, ALineThatIsReadBehindAWordShowsThatTheWordIsAHost) {
  const std::string xid = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  EXPECT_NE(read_whole("gpu-7: " + xid).find("by gpu-7:0"), std::string::npos);
  EXPECT_EQ(read_whole("eth0: " + xid).find("by eth0:0"), std::string::npos);
}

TEST(Reader, CountsALineOnceHoweverManyMessagesItHolds) {
  Batch counts;
  read_whole(R"({"log":")" + call_line(0, 1) + "\\n" + call_line(0, 2) + "\\n" +
                 R"(NVRM: Xid (PCI:0000:3b:00): 79, x","stream":"stdout","a":1})" + "\n",
             &counts);
  EXPECT_EQ(counts.lines, 1U);
  EXPECT_EQ(counts.recognized, 1U);
  EXPECT_EQ(counts.dialects, (std::map<std::string, std::uint64_t>{{"nccl", 1}}));
}

TEST(Reader, CountsALineOnceThoughItsRestComesLater) {
  const std::string line = "n1:1:2 [0] NCCL INFO something that no form knows";
  for (const bool restart : {false, true}) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(line);
    reader.finish();
    Batch batch = reader.take();
    EXPECT_EQ(batch.lines, 0U);
    EXPECT_EQ(reader.rest().recognized, 1U);
    if (restart) reader = Reader(reader.cursor(), Timestamp{});
    reader.feed(", and its rest\n");
    reader.close();
    batch = reader.take();
    EXPECT_EQ(batch.lines, 1U);
    EXPECT_EQ(batch.recognized, 1U);
  }
}

// A container's record without an end waits for the rest.
TEST(Reader, WhatIsToldAtTheEndStandsInTheLastLineAlsoAfterARestart) {
  constexpr std::string_view kText =
      "{\"log\":\"NVRM: Xid (PCI:0000:3b:00): 79, x\",\"stream\":\"stderr\"}\n\n";
  Reader whole(Cursor{}, Timestamp{});
  whole.feed(kText);
  whole.close();
  const Batch undisturbed = whole.take();
  Reader before(Cursor{}, Timestamp{});
  before.feed(kText);
  before.take();
  Reader after(before.cursor(), Timestamp{});
  after.close();
  const Batch restarted = after.take();
  ASSERT_EQ(undisturbed.events.size(), 1U);
  ASSERT_EQ(restarted.events.size(), 1U);
  EXPECT_EQ(restarted.events[0].line, undisturbed.events[0].line);
  EXPECT_EQ(restarted.events[0].offset, undisturbed.events[0].offset);
}

}  // namespace
}  // namespace faultline
