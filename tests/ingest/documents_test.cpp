#include "ingest/documents.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ingest/reader.h"
#include "model/json.h"

namespace faultline {
namespace {

std::vector<Event> events_in(std::string_view text, Batch* counts = nullptr) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(text);
  reader.close();
  Batch batch = reader.take();
  if (counts != nullptr) *counts = batch;
  return batch.events;
}

const std::string kHead =
    "Communicators... (0.05s)\n=============\n\n"
    "#0-0 (cf264af53edbe986) MISMATCH\n"
    "  Communicator ranks have different AllReduce operation counts\n";

TEST(Documents, AReportGoesOnAfterOtherLinesInItsMidst) {
  const auto events =
      events_in(kHead + "some warning on stderr\n" +
                "  Rank 7 has launched up to operation 41 -- GPU 7 managed by process 4711 on node "
                "10.0.0.7\n");
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(std::get<RankReport>(events.back().fact).operation, "AllReduce");
}

TEST(Documents, AReportIsOverAfterManyOtherLines) {
  std::string text = kHead;
  for (int i = 0; i < 1000; ++i) text += "the job's own output\n";
  Batch counts;
  const auto events = events_in(
      text + "  Rank 7 has launched up to operation 41 -- [process information not found]\n",
      &counts);
  EXPECT_EQ(events.size(), 2U);
  EXPECT_EQ(counts.dialects["ncclras"], 5U);
}

TEST(Documents, AnExceptionOnALastLineWithoutANewlineIsRead) {
  const std::string head =
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"/w/train.py\", line 10, in main\n"
      "[rank3]:     load()\n";
  for (const std::string last : {"ValueError: bad sample 17", "KeyboardInterrupt"}) {
    const auto events = events_in(head + "[rank3]: " + last);
    ASSERT_EQ(events.size(), 1U);
    const auto& raised = std::get<PythonException>(events.front().fact);
    EXPECT_EQ(raised.message.empty() ? raised.type : raised.type + ": " + raised.message, last);
  }
  // The name of the exception may be cut off.
  EXPECT_TRUE(events_in(head + "[rank3]: my.Val").empty());
}

TEST(Documents, AReportAtTheEndWithoutANewlineIsReadOnceItIsWhole) {
  const std::string last =
      "  Rank 7 has launched up to operation 41 -- GPU 7 managed by process 47";
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(kHead + last);
  reader.finish();
  EXPECT_EQ(reader.take().events.size(), 2U);
  Reader second(reader.cursor(), Timestamp{});
  second.feed("11 on node 10.0.0.7");
  second.close();
  const auto events = second.take().events;
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(std::get<RankReport>(events[0].fact).pid, 4711);
  EXPECT_EQ(events[0].line, 6U);
}

TEST(Documents, AReportOfAnySizeIsReadInLittleMemory) {
  constexpr int kRanks = 20'000;
  Reader reader(Cursor{}, Timestamp{});
  reader.feed("{\n\"nccl_version\": \"2.28.7\",\n\"communicators\": [\n{\n\"hash\": \"0xfa\",\n");
  reader.feed(fmt::format("\"size\": {},\n\"ranks\": [\n", kRanks));
  std::size_t facts = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    reader.feed(
        fmt::format("{}{{\n\"rank\": {},\n\"pid\": 7,\n\"collective_counts\": {{\n"
                    "\"AllReduce\": 5\n}}\n}}\n",
                    rank == 0 ? "" : ",\n", rank));
    if (rank % 1000 != 0) continue;
    facts += reader.take().events.size();
    ASSERT_LT(reader.cursor().carry.size(), 1000U);
  }
  reader.feed("]\n}\n]\n}\nnot any more\n");
  reader.close();
  const Batch last = reader.take();
  facts += last.events.size();
  EXPECT_EQ(facts, 2U * kRanks + 2U);
  EXPECT_TRUE(reader.cursor().carry.empty());
}

TEST(Documents, DepthAndNamesThatGrowWithoutEndAreGivenUp) {
  std::string deep = "{\n\"nccl_version\": 1,\n";
  for (int i = 0; i < 10'000; ++i) deep += "\"communicators\": [{\n";
  std::string wide =
      "{\n\"nccl_version\": 1,\n\"communicators\": [{\"ranks\": [{\"collective_counts\": {";
  for (int i = 0; i < 10'000; ++i) wide += fmt::format("\"op{}\": 7,\n", i);
  for (const std::string& text : {deep, wide}) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(text);
    EXPECT_LT(reader.cursor().carry.size(), 20'000U);
    reader.feed("\n[  812.5] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, name=python3, GPU lost.\n");
    reader.close();
    EXPECT_TRUE(std::holds_alternative<GpuXid>(reader.take().events.back().fact));
  }
}

TEST(Documents, JsonThatIsNobodysIsLeftToOthers) {
  Batch counts;
  const auto events = events_in(
      "{\n  \"name\": \"job\",\n  \"ranks\": [1, 2]\n}\n"
      "{\"timestamp\": \"2026-03-05T02:47:11Z\", \"msg\": \"[ 8.5] NVRM: Xid (PCI:0000:3b:00): 79, "
      "GPU has fallen off the bus.\"}\n",
      &counts);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<GpuXid>(events[0].fact));
  EXPECT_FALSE(counts.dialects.contains("ncclras"));
}

TEST(Documents, BytesThatItDidNotSaveAreForgotten) {
  for (const char* saved : {"\x08json", "\x0encclras\x7f\x7f", "nonsense", "\x02x", "\x0e"}) {
    Documents documents;
    documents.restore(saved);
    EXPECT_EQ(documents.save(), "");
  }
}

}  // namespace
}  // namespace faultline
