#include "ingest/dump_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixture.h"
#include "ingest/reader.h"
#include "model/json.h"

namespace faultline {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

const std::string kLine =
    "node1:615:18953 [2] NCCL INFO AllReduce: opCount 7 sendbuff 0x7f recvbuff 0x7f count 4 "
    "datatype 7 op 0 root 0 comm 0x55 [nranks=8] stream 0x1\n";

std::vector<std::string> facts_in(const Batch& batch) {
  std::vector<std::string> facts;
  for (const Event& event : batch.events) facts.push_back(fact_to_json(event.fact));
  return facts;
}

Batch read_whole(const std::string& bytes) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(bytes);
  reader.close();
  return reader.take();
}

const FlightRecorderDump& head_of(const Batch& batch) {
  return std::get<FlightRecorderDump>(batch.events.at(0).fact);
}

TEST(DumpBody, ADumpIsOneLineOfItsOwnDialect) {
  const std::string dump = fixture("flight_recorder/torch_v2.10.pickle");
  const Batch batch = read_whole(dump);
  EXPECT_EQ(batch.lines, 1U);
  EXPECT_EQ(batch.recognized, 1U);
  EXPECT_EQ(batch.dialects.at("flight-recorder"), 1U);
  EXPECT_EQ(batch.from_offset, 0U);
  EXPECT_EQ(batch.to_offset, dump.size());
  EXPECT_EQ(batch.end, SourceEnd::closed);
  ASSERT_EQ(batch.events.size(), 4U);
  EXPECT_EQ(head_of(batch).entries, 6U);
  EXPECT_EQ(batch.events[1].line, 1U);
  EXPECT_EQ(batch.events[1].offset, 0U);
  EXPECT_TRUE(batch.events[1].time.known());
  EXPECT_EQ(batch.events[1].text,
            "process group 0 (default_pg): last enqueued 304, last started 303, last completed "
            "302; 5 entries, the first unfinished: 303 nccl:all_reduce [[8192,64],[]] "
            "Float,Long, started");
}

TEST(DumpBody, PiecesOfAnySizeAreTheSameDump) {
  for (const char* name : {"torch_v2.10.pickle", "torch_v2.10.json", "saved_v2.10.json"}) {
    const std::string dump = fixture("flight_recorder/"s + name);
    const auto expected = facts_in(read_whole(dump));
    ASSERT_EQ(expected.size(), 4U) << name;
    for (const std::size_t piece : {1, 2, 7, 1000}) {
      Reader reader(Cursor{}, Timestamp{});
      std::vector<std::string> facts;
      const auto take = [&] {
        for (std::string& fact : facts_in(reader.take())) facts.push_back(std::move(fact));
      };
      for (std::size_t at = 0; at < dump.size(); at += piece) {
        reader.feed(std::string_view(dump).substr(at, piece));
        take();
      }
      reader.finish();
      take();
      EXPECT_EQ(facts, expected) << name << " in pieces of " << piece;
      EXPECT_EQ(reader.cursor().offset, dump.size());
      EXPECT_EQ(reader.cursor().lines, 1U);
      EXPECT_LT(reader.cursor().carry.size(), 16U);
    }
  }
}

TEST(DumpBody, NothingOfADumpIsPromisedBeforeItIsWhole) {
  const std::string dump = fixture("flight_recorder/torch_v2.10.pickle");
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(std::string_view(dump).substr(0, dump.size() - 1));
  const Batch nothing = reader.take();
  EXPECT_EQ(nothing.to_offset, 0U);
  EXPECT_EQ(nothing.facts(), 0U);
  EXPECT_EQ(reader.pending_bytes(), 0U);
  const Cursor cursor = reader.cursor();
  EXPECT_EQ(cursor, Cursor{});
  // If the server is killed here, the sender sends again from the acknowledged position.
  Reader second(cursor, Timestamp{});
  second.feed(dump);
  second.finish();
  EXPECT_EQ(facts_in(second.take()), facts_in(read_whole(dump)));
}

TEST(DumpBody, TheRestOfADumpThatBrokeOffMakesItWholeOverARestart) {
  for (const char* name : {"torch_v2.10.pickle", "v2.10_p4.pickle", "torch_v2.10.json"}) {
    const std::string dump = fixture("flight_recorder/"s + name);
    const std::size_t cut = dump.size() - 5;
    Reader reader(Cursor{}, Timestamp{});
    reader.feed(std::string_view(dump).substr(0, cut));
    reader.finish();
    const Batch first = reader.take();
    EXPECT_EQ(first.to_offset, cut);
    EXPECT_EQ(first.lines, 0U);
    EXPECT_EQ(first.facts(), 0U);
    EXPECT_EQ(first.end, SourceEnd::torn);
    const Batch rest_of_first = reader.rest();
    EXPECT_EQ(rest_of_first.lines, 1U);
    EXPECT_TRUE(head_of(rest_of_first).broken_off) << name;
    EXPECT_GE(head_of(rest_of_first).entries, 5U) << name;

    Reader second(reader.cursor(), Timestamp{});
    second.finish();  // nothing came
    EXPECT_EQ(second.take().facts(), 0U);
    second.feed(std::string_view(dump).substr(cut));
    second.finish();
    const Batch rest = second.take();
    EXPECT_EQ(rest.from_offset, cut);
    EXPECT_EQ(rest.to_offset, dump.size());
    EXPECT_EQ(rest.lines, 1U);
    EXPECT_EQ(facts_in(rest), facts_in(read_whole(dump))) << name;
    EXPECT_EQ(rest.events.at(0).offset, 0U);
    EXPECT_EQ(second.cursor().offset, dump.size());
    EXPECT_EQ(second.cursor().lines, 1U);
  }
}

TEST(DumpBody, DumpsAndLinesMayFollowADump) {
  const std::string pickle = fixture("flight_recorder/torch_v2.9.pickle");
  const std::string json = fixture("flight_recorder/torch_v2.10.json");
  const Batch batch = read_whole(pickle + json + pickle + kLine + kLine);
  std::vector<std::uint64_t> dumps;
  for (const Event& event : batch.events)
    if (std::holds_alternative<FlightRecorderDump>(event.fact)) dumps.push_back(event.offset);
  EXPECT_THAT(dumps, testing::ElementsAre(0, pickle.size(), pickle.size() + json.size()));
  EXPECT_EQ(batch.lines, 5U);
  ASSERT_EQ(batch.runs.size(), 1U);
  EXPECT_EQ(batch.runs[0].calls.size(), 2U);
}

TEST(DumpBody, ARefusedPickleSaysWhyAndIsNoText) {
  const Batch batch = read_whole(
      "\x80\x02"
      "cposix\nsystem\n" +
      kLine + kLine);
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_THAT(head_of(batch).refused, HasSubstr("GLOBAL"));
  EXPECT_THAT(batch.events[0].text, HasSubstr("GLOBAL"));
  EXPECT_EQ(batch.runs.size(), 0U);
  EXPECT_EQ(batch.lines, 1U);
  EXPECT_EQ(batch.skipped, 1U);
}

TEST(DumpBody, AnOldPickleIsRefusedHoweverItComes) {
  for (const std::string& old : {"}q\0("s, "(dp0\n"s, "(lp0\n"s}) {
    Reader reader(Cursor{}, Timestamp{});
    for (const char byte : old + "rest") reader.feed(std::string(1, byte));
    reader.close();
    const Batch batch = reader.take();
    ASSERT_EQ(batch.events.size(), 1U) << old;
    EXPECT_THAT(head_of(batch).refused, HasSubstr("protocols 0 and 1 are not read"));
  }
}

TEST(DumpBody, ARefusedPickleIsNotHeldUntilItsEnd) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed(
      "\x80\x02"
      "cposix\nsystem\n" +
      std::string(10'000, 'x'));
  EXPECT_GT(reader.pending_bytes(), 10'000U);
  EXPECT_EQ(reader.take().events.size(), 1U);
  reader.feed(std::string(10'000, 'x'));
  Reader second(reader.cursor(), Timestamp{});
  second.feed(kLine);
  second.close();
  EXPECT_EQ(second.take().facts(), 0U);
}

TEST(DumpBody, OtherProgramsJsonIsReadAsLines) {
  const std::string log = "{\"version\":\"1\",\"pg_config\":3,\"host\":\"web-1\"}\n" + kLine;
  const Batch batch = read_whole(log);
  EXPECT_EQ(batch.lines, 2U);
  EXPECT_EQ(batch.runs.size(), 1U);
  EXPECT_EQ(batch.events.size(), 0U);
  const Batch open = read_whole("{\"version\": [\n" + kLine);
  EXPECT_EQ(open.lines, 2U);
  EXPECT_EQ(open.runs.size(), 1U);
}

TEST(DumpBody, AnInfiniteBodyThatBeginsAsADumpIsGivenUp) {
  Reader reader(Cursor{}, Timestamp{});
  reader.feed("\x80\x02](");
  const std::string nothing(1 << 20, 'K');  // the number 75, for ever
  std::uint64_t fed = 4;
  while (fed < (std::uint64_t{80} << 20)) {
    reader.feed(nothing);
    fed += nothing.size();
  }
  const Batch batch = reader.take();
  ASSERT_EQ(batch.events.size(), 1U);
  EXPECT_NE(head_of(batch).refused, "");
  EXPECT_EQ(batch.to_offset, fed);
}

TEST(DumpBody, ThousandsOfBlanksAreNoBeginningOfADump) {
  DumpBody body;
  body.add(std::string(kDumpFormBytes - 1, '\n'));
  EXPECT_EQ(body.next(false, false).what, DumpBody::Step::What::wait);
  body.add("\n");
  EXPECT_EQ(body.next(false, false).what, DumpBody::Step::What::text);
}

}  // namespace
}  // namespace faultline
