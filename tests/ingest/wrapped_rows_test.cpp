// Logs whose lines a terminal broke at some column.
#include "ingest/wrapped_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/reader.h"
#include "model/json.h"
#include "told_by_source.h"

namespace faultline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string rows;
  std::size_t column = 0;
  for (const char c : text) {
    if (c != '\n' && column == columns) {
      rows += '\n';
      column = 0;
    }
    rows += c;
    column = c == '\n' ? 0 : column + 1;
  }
  return rows;
}

std::vector<std::string> facts_of(std::string_view log) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(log);
  reader.close();
  std::vector<std::string> facts;
  const Batch batch = reader.take();
  for (const Event& event : batch.events)
    facts.push_back(fmt::format("{} {} {}", batch.speakers[event.speaker].host, kind_of(event.fact),
                                event.text));
  for (const CallRun& run : batch.runs)
    facts.push_back(fmt::format("{} calls on {}", run.calls.size(), run.communicator));
  return facts;
}

std::string kernel_log() {
  std::string log;
  for (int gpu = 1; gpu <= 6; ++gpu)
    log += fmt::format(
        "Mar  5 02:47:{:02} gpu-node-1{} kernel: NVRM: Xid (PCI:0000:{}b:00): 79, pid={}, "
        "name=python3, GPU has fallen off the bus.\n",
        gpu, gpu, gpu, 40000 + gpu * 1111);
  return log;
}

std::string nccl_log() {
  std::string log;
  for (int rank = 0; rank < 8; ++rank)
    log += fmt::format(
        "gpu-node-{}:{}:{} [{}] NCCL INFO ncclCommInitRank comm 0x55d0a1b2c3d4 rank {} nranks 8 "
        "cudaDev {} nvmlDev {} busId {}b000 commId 0xfa12cd34ab56ef78 - Init COMPLETE\n",
        rank / 4, 4100 + rank * 7, 4900 + rank * 13, rank % 4, rank, rank % 4, rank % 4, rank + 1);
  return log;
}

std::string torch_log() {
  std::string log;
  for (int rank = 0; rank < 8; ++rank)
    log += fmt::format(
        "[rank{0}]:[E305 02:47:1{0}.123456789 ProcessGroupNCCL.cpp:616] [Rank {0}] Watchdog caught "
        "collective operation timeout: WorkNCCL(SeqNum={2}, OpType=ALLREDUCE, NumelIn={1}, "
        "NumelOut={1}, Timeout(ms)=600000) ran for 600{0}4{0} milliseconds before timing out.\n",
        rank, rank % 2 == 0 ? 4096 : 67108864, rank * rank * rank * 71);
  return log;
}

TEST(WrappedRows, BecomeTheLinesThatWereBroken) {
  for (const std::string& log : {kernel_log() + torch_log(), torch_log() + nccl_log(),
                                 nccl_log() + kernel_log() + torch_log()}) {
    const std::vector<std::string> whole = facts_of(log);
    for (std::size_t columns = 60; columns <= 160; ++columns) {
      SCOPED_TRACE(fmt::format("{} columns of\n{}", columns, wrapped(log, columns)));
      const std::vector<std::string> joined = facts_of(wrapped(log, columns));
      // All lines of one form are broken at the same place. Until other lines come, their facts may
      // be cut.
      EXPECT_GE(joined.size() + 3, whole.size());
      EXPECT_LE(joined.size(), whole.size() + 1);
      if (columns % 20 == 0) {
        EXPECT_EQ(joined.back(), whole.back());
      }
    }
  }
}

// As the catalog does, it knows a line of a watchdog that lacks its end.
class AskingForCutLines : public Noteworthy {
 public:
  bool wants(std::string_view text, std::string_view dialect) const override {
    return dialect == "torch" && text.find("timeout:") != text.npos;
  }
  bool reads_like_kernel(std::string_view) const override { return false; }
  std::optional<std::size_t> nccl_warning_in(std::string_view) const override { return {}; }
  TroubleKind trouble_in(std::string_view) const override { return TroubleKind::none; }
  bool completes(const Remark&, std::string_view) const override { return false; }
};

ToldBySource told(std::string_view log, std::size_t cut, bool restarts,
                  const std::shared_ptr<const Noteworthy>& asking = nullptr) {
  ToldBySource told;
  Reader reader(Cursor{}, Timestamp{}, asking);
  reader.feed(log.substr(0, cut));
  reader.finish();
  told.add(reader.take());
  if (restarts) reader = Reader(reader.cursor(), Timestamp{}, asking);
  reader.feed(log.substr(cut));
  reader.close();
  told.add(reader.take());
  return told;
}

void expect_the_same_wherever_cut(const std::string& log,
                                  const std::shared_ptr<const Noteworthy>& asking = nullptr) {
  const ToldBySource whole = told(log, log.size(), false, asking);
  for (std::size_t cut = 0; cut < log.size(); ++cut)
    for (const bool restarts : {false, true}) {
      const ToldBySource pieces = told(log, cut, restarts, asking);
      ASSERT_TRUE(pieces == whole) << cut << "\n" << pieces.text() << "\n" << whole.text();
    }
}

TEST(WrappedRows, OfAWatchdogAreWholeFromTheFirstLineOn) {
  const auto timeouts = [](const std::string& log) {
    Reader reader(Cursor{}, Timestamp{}, std::make_shared<AskingForCutLines>());
    reader.feed(log);
    reader.close();
    std::vector<std::string> facts;
    const Batch batch = reader.take();
    for (const Event& event : batch.events)
      facts.push_back(
          fmt::format("{} {}", batch.speakers[event.speaker].rank, fact_to_json(event.fact)));
    return facts;
  };
  const std::vector<std::string> whole = timeouts(torch_log());
  ASSERT_THAT(whole, SizeIs(8));
  for (std::size_t columns = 116; columns <= 230; ++columns)
    EXPECT_EQ(timeouts(wrapped(torch_log(), columns)), whole) << columns;
}

TEST(WrappedRows, ALineThatWasCutIsNotCompletedByAnotherLine) {
  const std::string cut =
      "[Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLR\n";
  const std::string ended =
      "[Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, "
      "OpType=ALLREDUCE, Timeout(ms)=600000)\n";
  const std::string others =
      "[Rank 9] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=900, "
      "OpType=BROADCAST, Timeout(ms)=600000) ran for 600030 milliseconds before timing out.\n";
  const auto facts_of_log = [](const std::string& log) {
    return told(log, log.size(), false, std::make_shared<AskingForCutLines>()).text();
  };
  for (const std::string& row :
       {others, "  what():  " + others, "node2: " + others,
        std::string("node2: validation ran for 3500 milliseconds\n"),
        std::string("RuntimeError: uncorrectable ECC error, it ran for 30 milliseconds\n"),
        std::string("password=x ran for 30 milliseconds\n")}) {
    const std::string facts = facts_of_log(cut + row);
    EXPECT_THAT(facts, Not(HasSubstr("\"sequence\":812"))) << row;
    EXPECT_EQ(facts.find("900") != std::string::npos, row.find("900") != std::string::npos) << row;
    EXPECT_THAT(facts_of_log(ended + row), Not(HasSubstr("\"ran_ms\":30"))) << row;
  }
  EXPECT_THAT(
      facts_of_log(cut + "[E ProcessGroupNCCL.cpp:325] something else\nEDUCE, Timeout(ms)=600000) "
                         "ran for 600017 milliseconds before timing out.\n"),
      Not(HasSubstr("ran_ms")));
}

TEST(WrappedRows, OfAWatchdogAreTheSameHoweverTheLogIsCut) {
  const std::string log = wrapped(torch_log().substr(0, 700), 150);
  const auto asking = std::make_shared<AskingForCutLines>();
  EXPECT_THAT(told(log, log.size(), false, asking).text(), HasSubstr("ran_ms"));
  expect_the_same_wherever_cut(log, asking);
}

TEST(WrappedRows, OneLineIsJoinedWhereItsFirstRowToldNothing) {
  const std::string line = torch_log().substr(0, torch_log().find('\n') + 1);
  EXPECT_THAT(facts_of(line), SizeIs(1));
  for (const std::size_t columns : {80, 100, 120, 132})
    EXPECT_EQ(facts_of(wrapped(line, columns)), facts_of(line)) << columns;
}

TEST(WrappedRows, OfAReportInJsonAreJoinedWithinItsStrings) {
  const std::string report = R"({
    "/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/node_desc": "node2183 HCA-5\n",
    "/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/ports/1/state": "1: DOWN\n",
    "/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/ports/1/phys_state": "3: Disabled\n"
}
)";
  const auto reported = [](std::string_view log) {
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(log);
    reader.close();
    std::string facts;
    for (const Event& event : reader.take().events) facts += fact_to_json(event.fact) + "\n";
    return facts;
  };
  for (std::size_t columns = 72; columns <= 200; ++columns) {
    const std::string told = reported(wrapped(report, columns));
    EXPECT_THAT(told, HasSubstr("DOWN")) << columns;
    EXPECT_THAT(told, HasSubstr("node2183 HCA-5")) << columns;
  }
}

TEST(WrappedRows, AreTheSameHoweverTheLogIsCut) {
  expect_the_same_wherever_cut(wrapped(kernel_log() + nccl_log(), 80));
}

// Two logs as scripts print them: a line after one of NCCL does not continue it.
TEST(WrappedRows, LinesAsTheyWerePrintedAreLeftAlone) {
  std::string log;
  for (int rank = 0; rank < 8; ++rank) {
    log += fmt::format(
        "gpu-node-0:4100:4900 [{}] NCCL INFO comm 0x55d0a1b2c3d4 rank {} nranks 8 cudaDev {} busId "
        "1b000 commId 0xfa12cd34ab56ef78 - Init COMPLETE\n",
        rank, rank, rank);
    log += "throughput of the last step\n";
  }
  std::string alone;
  for (std::size_t at = 0, end = 0; at < log.size(); at = end + 1) {
    end = log.find('\n', at);
    if (log.compare(at, 3, "gpu") == 0) alone += log.substr(at, end + 1 - at);
  }
  EXPECT_EQ(facts_of(log), facts_of(alone));
}

TEST(WrappedRows, LearnsFromRowsThatGoOnWithinAWord) {
  using Learned = WrappedRows::Learned;
  const std::string row(80, 'a');
  const RowRead line{.counted = true};
  WrappedRows rows;
  EXPECT_EQ(rows.learn(row, 7, line), Learned::nothing);
  EXPECT_EQ(rows.learn("Traceback", 8, {}), Learned::line_ends);
  EXPECT_EQ(rows.take().text, row + "Traceback");
  EXPECT_EQ(rows.learn(row, 9, line), Learned::nothing);
  EXPECT_EQ(rows.learn("and so on", 10, {}), Learned::line_ends);
  EXPECT_EQ(rows.take().text, row + "and so on");
  EXPECT_FALSE(rows.is_joining());
  EXPECT_EQ(rows.learn(row, 11, line), Learned::nothing);
  EXPECT_EQ(rows.learn(row, 12, {}), Learned::line_goes_on);
  EXPECT_TRUE(rows.is_joining());
  EXPECT_TRUE(rows.goes_on_with("b"));
  EXPECT_TRUE(rows.add("b"));
  const WrappedRows::Line joined = rows.take();
  EXPECT_EQ(joined.text, row + row + "b");
  EXPECT_EQ(joined.first_row, 11U);
}

// Mixed tables of two hosts: a row of one is as long as a row of the other.
TEST(WrappedRows, OfHostsWithLabelsAreLines) {
  const std::string row = "gpu-7: +" + std::string(71, '-') + "+";
  WrappedRows rows;
  rows.learn(row, 1, {});
  EXPECT_EQ(rows.learn("gpu-8: +" + std::string(71, '-') + "+", 2, {}),
            WrappedRows::Learned::nothing);
  EXPECT_EQ(rows.learn("gpu-7: | a", 3, {}), WrappedRows::Learned::nothing);
  EXPECT_FALSE(rows.is_open());
}

TEST(WrappedRows, OfAMailAreJoinedBetweenWords) {
  const std::string mail =
      "[ 2340.104001] a line of over eighty columns is the longest of all that stand in this "
      "mail\n"
      "[ 2351.934190] nvidia 0000:3b:00.0: told by its driver: NVRM: Xid\n"
      "(PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
  EXPECT_THAT(facts_of(mail), ElementsAre(HasSubstr("Xid (PCI:0000:3b:00): 79")));
}

TEST(WrappedRows, OfAMailThatWasAnsweredAreJoinedWithoutItsMarks) {
  for (const std::string quote : {"> ", "> > "}) {
    SCOPED_TRACE(quote);
    const std::string mail = quote + "Hello,\n" + quote + "last night this came:\n" + quote +
                             "kern.err: Mar  5 02:47:11 gpu-7 kernel: [325978.631877] NVRM: Xid\n" +
                             quote + "(PCI:0000:3b:00): 79, GPU has fallen off the bus.\n";
    EXPECT_THAT(facts_of(mail), ElementsAre(HasSubstr("Xid (PCI:0000:3b:00): 79")));
  }
}

TEST(WrappedRows, AnAnswerDoesNotGoOnWithWhatItAnswers) {
  using Learned = WrappedRows::Learned;
  WrappedRows rows;
  rows.learn(std::string(90, 'a'), 1, {.told = true, .counted = true});
  const std::string row = "> [ 2346.279770] a driver says something of itself that is long enough";
  rows.learn(row, 1, {.counted = true});
  EXPECT_EQ(rows.learn("> > a word that is quite long", 2, {}), Learned::nothing);
  rows.learn(row, 3, {.counted = true});
  EXPECT_EQ(rows.learn("a word that is quite long", 4, {}), Learned::nothing);
}

TEST(WrappedRows, WhatWouldHaveFittedBehindARowIsALineOfItsOwn) {
  using Learned = WrappedRows::Learned;
  WrappedRows rows;
  rows.learn(std::string(90, 'a'), 1, {.told = true, .counted = true});
  const std::string row = "[ 2346.279770] a driver says something of itself";
  rows.learn(row, 2, {.counted = true});
  EXPECT_EQ(rows.learn("a word", 3, {}), Learned::nothing);
  rows.learn(row + " that is long enough", 4, {.told = true, .counted = true});
  EXPECT_EQ(rows.learn("a word", 5, {}), Learned::nothing);
  rows.learn(row + " that is long enough", 6, {.counted = true});
  EXPECT_EQ(rows.learn("a word", 7, {}), Learned::line_ends);
  EXPECT_EQ(rows.take().text, row + " that is long enough a word");
}

TEST(WrappedRows, ALineThatTellsMoreThanItsRowsWasOne) {
  WrappedRows rows;
  rows.learn(std::string(80, 'a'), 1, {});
  ASSERT_EQ(rows.learn("Bus", 2, {}), WrappedRows::Learned::line_ends);
  rows.take();
  EXPECT_FALSE(rows.is_joining());
  rows.told_more();
  EXPECT_TRUE(rows.is_joining());
}

TEST(WrappedRows, StopsWhereARowIsLonger) {
  const std::string row(80, 'a');
  WrappedRows rows;
  rows.learn(row, 7, {.counted = true});
  rows.learn(row, 7, {});
  ASSERT_TRUE(rows.is_joining());
  rows.take();
  EXPECT_TRUE(rows.begin(row, 7));
  EXPECT_FALSE(rows.goes_on_with("[    1.234567] a line"));
  rows.take();
  EXPECT_FALSE(rows.begin(row + "a", 8));
  EXPECT_FALSE(rows.is_watching());
  EXPECT_THAT(rows.save(), IsEmpty());
}

TEST(WrappedRows, CountsColumnsAndNotBytes) {
  std::string row;
  for (int i = 0; i < 80; ++i) row += i % 2 == 0 ? "\xc3\xa4" : "\x1b[31ma\x1b[0m";
  WrappedRows rows;
  rows.learn(row, 7, {.counted = true});
  rows.learn(std::string(80, 'b'), 7, {});
  EXPECT_TRUE(rows.is_joining());
  EXPECT_FALSE(rows.add(std::string(80, 'c')));
  EXPECT_TRUE(rows.add(std::string(79, 'c')));
}

}  // namespace
}  // namespace faultline
