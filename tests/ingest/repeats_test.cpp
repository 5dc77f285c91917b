// Which facts the reader folds into one event, which lines it keeps although no parser knows them,
// and what it counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ingest/reader.h"
#include "ingest/repeat_filter.h"

namespace faultline {
namespace {

constexpr std::string_view kFrame = "gpu-a:4399:4420 [0] NCCL INFO ";

std::string said(std::string_view message, std::string_view frame = kFrame) {
  return std::string(frame) + std::string(message) + "\n";
}

Batch read(const std::string& text, std::shared_ptr<const Noteworthy> noteworthy = nullptr) {
  Reader reader(Cursor{}, Timestamp{}, std::move(noteworthy));
  reader.feed(text);
  reader.close();
  return reader.take();
}

template <class Kind>
std::vector<Kind> all(const Batch& batch) {
  std::vector<Kind> facts;
  for (const Event& event : batch.events)
    if (const auto* fact = std::get_if<Kind>(&event.fact)) facts.push_back(*fact);
  return facts;
}

TEST(Repeats, ConnectionsThatDifferOnlyInTheChannelAreOneEvent) {
  std::string text;
  for (const char* channel : {"00", "01", "02"})
    text +=
        said(std::string("Channel ") + channel + "/0 : 1[1] -> 2[0] [send] via NET/IB/1/GDRDMA");
  text += said("Channel 03/0 : 1[1] -> 2[0] [send] via NET/IB/2/GDRDMA");
  text += said("Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/1/GDRDMA",
               "gpu-a:4399:5000 [0] NCCL INFO ");
  const Batch batch = read(text);
  const auto connections = all<PeerConnection>(batch);
  ASSERT_EQ(connections.size(), 3U);
  EXPECT_EQ(connections[0].channels, 3);
  EXPECT_EQ(connections[1].device, 2);
  EXPECT_EQ(connections[2].thread, 5000);
  EXPECT_EQ(batch.recognized, 5U);
}

TEST(Repeats, TheConnectionsOfTheNextCommunicatorAreOthers) {
  const std::string connection = said("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
  const std::string init =
      said("comm 0x7f20 rank 0 nranks 2 cudaDev 0 busId 1b000 - Init COMPLETE");
  const auto connections = all<PeerConnection>(read(connection + connection + init + connection));
  ASSERT_EQ(connections.size(), 2U);
  EXPECT_EQ(connections[0].channels, 2);
  EXPECT_EQ(connections[1].channels, 1);
}

TEST(Repeats, ASettingIsToldOnceForEachProcessOfASource) {
  const std::string text = said("Using network IB") + said("Using network IB") +
                           said("Using network IB", "gpu-a:4400:4421 [1] NCCL INFO ") +
                           said("Using network Socket");
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(text);
  const Batch first = reader.take();
  EXPECT_EQ(all<Setting>(first).size(), 3U);
  EXPECT_EQ(first.recognized, 4U);
  reader.feed(said("Using network IB"));
  const Batch second = reader.take();
  EXPECT_TRUE(second.events.empty());
  EXPECT_EQ(second.recognized, 1U);
}

// The events that the filter leaves of successive reports of a tool.
class Reports {
 public:
  explicit Reports(std::string tool) : tool_(std::move(tool)) {}

  void tell(std::uint64_t line, int rank, std::uint64_t completed) {
    Fact fact = RankReport{.tool = tool_,
                           .communicator_id = "0xab",
                           .rank = rank,
                           .operation = "AllReduce",
                           .completed = completed};
    const LinePlace place{line, line * 100, "a line"};
    if (filter_.swallows(batch_, 0, {}, place, fact)) return;
    Event& event = batch_.events.emplace_back();
    event.line = line;
    event.fact = std::move(fact);
  }

  // (line, rank, completed) of each event.
  std::vector<std::tuple<std::uint64_t, int, std::uint64_t>> kept() const {
    std::vector<std::tuple<std::uint64_t, int, std::uint64_t>> rows;
    for (const Event& event : batch_.events) {
      const auto& report = std::get<RankReport>(event.fact);
      rows.emplace_back(event.line, report.rank, report.completed.value_or(0));
    }
    return rows;
  }

 private:
  std::string tool_;
  RepeatFilter filter_;
  Batch batch_;
};

TEST(Repeats, OfCompletedOperationsOfOneRankTheLatestStays) {
  Reports inspector("inspector");
  inspector.tell(1, 0, 10);
  inspector.tell(2, 1, 10);
  inspector.tell(3, 0, 12);
  EXPECT_THAT(inspector.kept(),
              testing::ElementsAre(std::tuple(3U, 0, 12U), std::tuple(2U, 1, 10U)));
}

TEST(Repeats, WhatNcclrasSaysOfARankTwiceStaysTwice) {
  Reports ncclras("ncclras");
  ncclras.tell(1, 0, 10);
  ncclras.tell(2, 0, 12);
  EXPECT_THAT(ncclras.kept(), testing::ElementsAre(std::tuple(1U, 0, 10U), std::tuple(2U, 0, 12U)));
}

TEST(Remarks, AWarningOfSeveralLinesIsOne) {
  const Batch batch = read(
      "[2026-05-05 07:02:11] n:6:7 [1] transport/nvls.cc:283 NCCL WARN Failed to bind NVLink SHARP "
      "(NVLS) Multicast memory of size 2097152 : CUDA error 401 'x'.\n"
      "This is usually caused by a system or configuration error in the Fabric Manager or "
      "NVSwitches.\n"
      "Disable NVLS (NCCL_NVLS_ENABLE=0) if you wish to avoid this error in the future.\n"
      "Traceback (most recent call last):\n");
  const auto remarks = all<Remark>(batch);
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_TRUE(remarks[0].text.ends_with("in the future.")) << remarks[0].text;
  EXPECT_EQ(std::count(remarks[0].text.begin(), remarks[0].text.end(), '\n'), 2);
  EXPECT_EQ(batch.recognized, 4U);  // with the beginning of a traceback
}

TEST(Remarks, AWarningThatATerminalWrappedIsOneLineAgain) {
  const auto remarks = all<Remark>(read(
      "[2025-11-19 18:02:33] n:22890:22900 [0] transport/net_ib.cc:2470 NCCL WARN NET/IB:\n"
      "Got completion from peer 10.77.0.1<35162> with status=12 opcode=129 len=65536 vendor err "
      "129 (Recv)\n"
      "  localGid ::ffff:10.77.0.2 remoteGids::ffff:10.77.0.1 hca roceP2p1s0f0\n"
      "\n"
      "hca of another story\n"));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0].text,
            "NET/IB: Got completion from peer 10.77.0.1<35162> with status=12 opcode=129 len=65536 "
            "vendor err 129 (Recv) localGid ::ffff:10.77.0.2 remoteGids::ffff:10.77.0.1 hca "
            "roceP2p1s0f0");
}

// Wants every text that contains a word.
class Wants : public Noteworthy {
 public:
  explicit Wants(std::string word) : word_(std::move(word)) {}
  bool wants(std::string_view text, std::string_view) const override {
    return text.find(word_) != std::string_view::npos;
  }
  bool reads_like_kernel(std::string_view) const override { return false; }
  std::optional<std::size_t> nccl_warning_in(std::string_view) const override { return {}; }
  TroubleKind trouble_in(std::string_view) const override { return TroubleKind::none; }
  bool completes(const Remark&, std::string_view) const override { return false; }

 private:
  std::string word_;
};

TEST(Remarks, ALineThatASignatureAsksForIsKept) {
  const auto wants = std::make_shared<Wants>("refused");
  const Batch batch = read(said("socketPollConnect: connect to 10.0.0.12<5> returned Connection "
                                "refused, retrying (3/34) after sleep for 300 msec") +
                               said("NCCL_NAME set by environment to refused") +
                               "2026-05-05T07:02:11Z worker: connection refused by peer\n",
                           wants);
  ASSERT_EQ(batch.events.size(), 3U);
  const auto& info = std::get<Remark>(batch.events[0].fact);
  EXPECT_EQ(info.dialect, "nccl");
  EXPECT_EQ(info.level, "info");
  EXPECT_EQ(info.thread, 4420);
  EXPECT_TRUE(info.text.starts_with("socketPollConnect: ")) << info.text;
  EXPECT_EQ(batch.speakers[batch.events[0].speaker].pid, 4399);
  EXPECT_EQ(kind_of(batch.events[1].fact), "setting") << "a fact is no remark besides";
  const auto& other = std::get<Remark>(batch.events[2].fact);
  EXPECT_EQ(other.dialect, "");
  EXPECT_TRUE(other.text.ends_with("connection refused by peer")) << other.text;
  EXPECT_TRUE(batch.events[2].time.known());
}

TEST(Subsystems, CountTheLinesThatNoFactCameOf) {
  const Batch batch = read(
      said("Trees [0] 1/2/-1->0->-1") + said("RAS thread started") + said("NET/OFI Initializing") +
      said("what a line") + said("Using network IB") + "n:6:7 NCCL CALL ncclGroupStart()\n" +
      said("AllReduce: 16 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}"));
  EXPECT_EQ(batch.subsystems,
            (std::map<std::string, std::uint64_t>{
                {"CALL", 1}, {"INIT", 1}, {"NET", 1}, {"RAS", 1}, {"TUNING", 1}, {"UNKNOWN", 1}}));
  EXPECT_EQ(batch.recognized, 7U);
}

TEST(UnfinishedLines, GiveNoFactThatTheRestCouldChange) {
  const std::string half = std::string(kFrame) + "NCCL_IB_HCA set by environment to mlx5_";
  EXPECT_TRUE(read(half).events.empty()) << "the name of the NIC may go on";
  EXPECT_EQ(read(half).end, SourceEnd::torn);

  Reader reader(Cursor{}, Timestamp{});
  reader.feed(half);
  reader.finish();
  EXPECT_TRUE(reader.take().events.empty());
  reader.feed("12\n");
  const auto settings = all<Setting>(reader.take());
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0].value, "mlx5_12");
}

std::string xid(int code, std::string_view detail, int pid = 40224) {
  return "[41280.701551] NVRM: Xid (PCI:0000:3b:00): " + std::to_string(code) +
         ", pid=" + std::to_string(pid) + ", name=python3, " + std::string(detail) + "\n";
}

TEST(Storms, OfOneXidAreAFewEventsOfABatchAndTheLastCountsTheRest) {
  std::string text;
  for (int line = 0; line < 1'000; ++line) {
    std::string channel = std::to_string(line);
    channel.insert(0, 8 - channel.size(), '0');
    text += xid(45, "Ch " + channel);
  }
  const Batch batch = read(text);
  const auto storm = all<GpuXid>(batch);
  ASSERT_EQ(storm.size(), 64U);
  int lines = 0;
  for (const GpuXid& one : storm) lines += one.repeated;
  EXPECT_EQ(lines, 1'000);
  EXPECT_EQ(batch.recognized, 1'000U);
  EXPECT_THAT(batch.events.front().text, testing::HasSubstr("Ch 00000000"));
  EXPECT_THAT(batch.events.back().text, testing::HasSubstr("Ch 00000999"));
  EXPECT_EQ(batch.events.back().line, 1'000U);
}

TEST(Storms, OfWhatARankRaisesAreAFewEventsOfABatchAndTheLastIsAmongThem) {
  const auto raised = [](const std::string& label, const std::string& what) {
    return label + "Traceback (most recent call last):\n" + label +
           "  File \"/srv/train.py\", line 7, in step\n" + label + "    loss.backward()\n" + label +
           what + "\n";
  };
  std::string text;
  for (int time = 0; time < 1'000; ++time)
    text += raised("", "RuntimeError: a") + raised("[rank3]: ", "RuntimeError: a") +
            raised("", "RuntimeError: b");
  const Batch batch = read(text + raised("", "ValueError: c"));
  EXPECT_EQ(all<PythonException>(batch).size(), 3 * 64U + 1U);
  std::map<std::string, std::uint64_t> last;  // message to its last line
  for (const Event& event : batch.events)
    if (const auto* exception = std::get_if<PythonException>(&event.fact))
      last[exception->message] = std::max(last[exception->message], event.line);
  EXPECT_EQ(last, (std::map<std::string, std::uint64_t>{
                      {"a", 12 * 999 + 8}, {"b", 12 * 999 + 12}, {"c", 12 * 1'000 + 4}}));
}

TEST(Storms, HideNoXidOfAnotherCodeProcessOrText) {
  std::string text;
  for (int line = 0; line < 500; ++line) text += xid(45, "Ch 00000001");
  text += xid(79, "GPU has fallen off the bus.") + xid(45, "Ch 00000001", 40225) +
          xid(48, "DBE at 0x10") + xid(48, "DBE at 0x20");
  for (int line = 0; line < 500; ++line) text += xid(45, "Ch 00000001");
  const auto xids = all<GpuXid>(read(text));
  EXPECT_EQ(xids.size(), 64U + 4U);
  const auto count = [&](int code) {
    return std::count_if(xids.begin(), xids.end(),
                         [&](const GpuXid& one) { return one.code == code; });
  };
  EXPECT_EQ(count(79), 1);
  EXPECT_EQ(count(48), 2);
}

TEST(Reports, OfPartsAreKeptWithoutWordsOfAnyLength) {
  const std::string node(100'000, 'x');
  const auto reports = all<PartReport>(
      read("   1    1[  ] ==( 4X 25.78125 Gbps Active/  LinkUp)==>       4    1[  ] \"" + node +
           "\" ( )\n"));
  ASSERT_EQ(reports.size(), 1U);
  for (const auto* values : {&reports[0].names, &reports[0].values})
    for (const NamedValue& value : *values) EXPECT_LE(value.value.size(), 512U) << value.name;
}

TEST(UnfinishedLines, OfAWarningTheBeginningIsKeptWhenNothingCanFollow) {
  const std::string half = "n:6:7 [0] init.cc:9 NCCL WARN Cuda failure 'out of mem";
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(half);
  reader.finish();
  EXPECT_TRUE(reader.take().events.empty());
  EXPECT_EQ(all<Remark>(read(half)).size(), 1U);
}

TEST(PlainLines, AreReadTheSameWithAndWithoutAWrapper) {
  const std::string_view messages[] = {
      "Using network IB", "Connected all rings", "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM",
      "transport/net.cc:1227 -> 6", "NCCL version 2.27.7+cuda12.8"};
  for (const std::string_view message : messages) {
    const Batch plain = read(said(message));
    const Batch wrapped = read("2026-05-05T07:02:11.5Z " + said(message));
    const Batch colored =
        read("\x1b[36m" + std::string(kFrame) + std::string(message) + "\x1b[0m\r\n");
    ASSERT_EQ(plain.events.size(), 1U) << message;
    for (const Batch* other : {&wrapped, &colored}) {
      ASSERT_EQ(other->events.size(), 1U) << message;
      EXPECT_EQ(other->events[0].fact, plain.events[0].fact) << message;
    }
  }
}

}  // namespace
}  // namespace faultline
