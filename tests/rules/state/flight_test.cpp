#include "rules/state/flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flight.h"

namespace faultline {
namespace {

using testing::ElementsAre;

class FlightState : public testing::Test {
 protected:
  void read(const Recorder& recorder, const std::string& name, int said_rank = -1,
            std::uint64_t offset = 0) {
    const Source origin{.job = "j", .name = name, .rank = said_rank};
    const auto [known, is_new] =
        sources_.try_emplace(name, static_cast<std::uint32_t>(sources_.size()));
    for (const Event& event : recorder.batch(offset).events)
      flight.apply(known->second, origin, event);
  }

  Flight flight;

 private:
  std::map<std::string, std::uint32_t> sources_;
};

Recorder of_world(int ranks) {
  Recorder recorder;
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  recorder.group("0", all);
  return recorder;
}

TEST(FlightName, ARankIsReadOffTheUsualNames) {
  EXPECT_EQ(rank_in_name("nccl_trace_rank_7"), 7);
  EXPECT_EQ(rank_in_name("/home/u/.cache/torch/comm_lib_trace_rank_12"), 12);
  EXPECT_EQ(rank_in_name("dumps.tar.gz/dumps/_dump_14"), 14);
  EXPECT_EQ(rank_in_name("nccl_trace_rank_container-node02_5"), 5);
  EXPECT_EQ(rank_in_name("per_rank/rank_3"), 3);
  EXPECT_EQ(rank_in_name("trace_rank7.json"), 7);
  EXPECT_EQ(rank_in_name("fr_trace_7.pickle.gz"), 7);
  EXPECT_EQ(rank_in_name("rank-2-of-8.json"), 2);
  EXPECT_EQ(rank_in_name("nccl_trace_rank_7#2"), 7);
  EXPECT_EQ(rank_in_name("dumps/31"), 31);
}

TEST(FlightName, OtherNumbersAreNoRank) {
  EXPECT_EQ(rank_in_name("host/10.0.0.7"), -1);
  EXPECT_EQ(rank_in_name("host/10.0.0.7#2"), -1);
  EXPECT_EQ(rank_in_name("gpu-node-7"), -1);
  EXPECT_EQ(rank_in_name("dump-v2.10"), -1);
  EXPECT_EQ(rank_in_name("trace_rank_99999999999999999999"), -1);
  EXPECT_EQ(rank_in_name("rank_a/dump"), -1);
  EXPECT_EQ(rank_in_name(""), -1);
}

TEST_F(FlightState, ADumpIsKeptByRankAndGroup) {
  Recorder recorder = of_world(8);
  recorder.status("0", 12, -1, 11);
  recorder.record("0", {.sequence = 11});
  recorder.record("0", {.state = 's', .sequence = 12, .stack = "step (a.py:3)"});
  read(recorder, "_dump_5");

  ASSERT_EQ(flight.dumps().size(), 1U);
  const FlightDump& dump = flight.dumps()[0];
  EXPECT_EQ(dump.rank(), 5);
  EXPECT_FALSE(dump.timing);
  EXPECT_EQ(flight.groups()[0].name, "0");
  EXPECT_THAT(flight.groups()[0].members, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  const FlightPosition* world = dump.position(0);
  ASSERT_NE(world, nullptr);
  EXPECT_EQ(world->last_enqueued, 12);
  ASSERT_EQ(world->entries.size(), 2U);
  EXPECT_EQ(world->entries[1].sequence, 12U);
  EXPECT_EQ(world->entries[1].record, 1U);
  EXPECT_EQ(world->entries[1].progress, FlightProgress::scheduled);
  EXPECT_EQ(world->entries[1].created_us, 1'741'142'832'000'000);
  EXPECT_EQ(flight.signature(world->entries[1].signature).operation, "nccl:all_reduce");
  ASSERT_NE(world->operation(1), nullptr);
  EXPECT_EQ(flight.stack(world->operation(1)->stack), "step (a.py:3)");
  EXPECT_EQ(world->operation(0), nullptr);
}

TEST_F(FlightState, RanksShareGroupsAndSignatures) {
  for (int rank = 0; rank < 4; ++rank) {
    Recorder recorder = of_world(4);
    recorder.record("0", {.sequence = 1});
    read(recorder, fmt::format("trace_rank_{}", rank));
  }
  EXPECT_EQ(flight.groups().size(), 1U);
  EXPECT_EQ(flight.dumps()[0].positions[0].entries[0].signature,
            flight.dumps()[3].positions[0].entries[0].signature);
  EXPECT_EQ(flight.latest().size(), 4U);
}

TEST_F(FlightState, AGroupsNameGivenToOtherRanksIsAnotherGroup) {
  Recorder first;
  first.group("tp", {0, 1});
  Recorder second;
  second.group("tp", {2, 3});
  read(first, "_dump_0");
  read(second, "_dump_2");
  EXPECT_EQ(flight.groups().size(), 2U);
}

TEST_F(FlightState, ItsGroupsTellWhoseDumpItIs) {
  Recorder recorder = of_world(16);
  recorder.group("tp", {14, 15});
  recorder.group("pp", {2, 6, 10, 14});
  read(recorder, "upload.bin");
  EXPECT_EQ(flight.dumps()[0].rank(), 14);
}

TEST_F(FlightState, ItsOwnSendsTellWhoseDumpItIs) {
  Recorder recorder = of_world(16);
  recorder.group("pp", {2, 6, 10, 14});
  recorder.record("pp", {.operation = "nccl:recv 2<-1", .p2p_sequence = 3, .point_to_point = true});
  read(recorder, "upload.bin");
  EXPECT_EQ(flight.dumps()[0].rank(), 10);
}

TEST_F(FlightState, ANameThatItsGroupsForbidIsNotBelieved) {
  Recorder recorder;
  recorder.group("tp", {2, 3});
  read(recorder, "_dump_7");
  EXPECT_EQ(flight.dumps()[0].rank(), -1);
  read(recorder, "_dump_9", 3);
  EXPECT_EQ(flight.dumps()[1].rank(), 3);
}

TEST_F(FlightState, TheYoungestDumpOfARankCounts) {
  Recorder early = of_world(2);
  early.record("0", {.sequence = 1});
  Recorder late = early;
  late.record("0", {.sequence = 2});
  read(late, "b/_dump_0");
  read(early, "a/_dump_0");
  Recorder refused;
  refused.about.refused = "it names code to run (GLOBAL)";
  refused.start_us += 1'000'000'000;
  read(refused, "c/_dump_0");
  const auto latest = flight.latest();
  ASSERT_EQ(latest.size(), 1U);
  EXPECT_EQ(latest.begin()->second, 0U);
}

TEST_F(FlightState, TheRestOfADumpReplacesItsBeginning) {
  Recorder part;
  part.about.broken_off = true;
  part.record("0", {.sequence = 1});
  Recorder whole;
  whole.record("0", {.sequence = 1});
  whole.record("0", {.sequence = 2});
  read(part, "upload");
  read(whole, "upload");
  ASSERT_EQ(flight.dumps().size(), 1U);
  EXPECT_EQ(flight.dumps()[0].positions[0].entries.size(), 2U);
  // A dump that begins at another offset may be another rank's.
  read(whole, "upload", -1, 4000);
  EXPECT_EQ(flight.dumps().size(), 2U);
}

TEST_F(FlightState, MembersOfABatchShareItsEnd) {
  Recorder recorder;
  recorder.group("pp", {0, 1});
  const RecordedOperation send{.operation = "nccl:send 0->1",
                               .state = 's',
                               .sequence = 3,
                               .p2p_sequence = 8,
                               .point_to_point = true};
  recorder.record("pp", {.sequence = 3});
  recorder.record("pp", send);
  recorder.record("pp", {.operation = "nccl:recv 0<-1",
                         .state = 's',
                         .sequence = 3,
                         .p2p_sequence = 8,
                         .point_to_point = true});
  recorder.record("pp", {.operation = "nccl:coalesced",
                         .state = 'C',
                         .sequence = 3,
                         .p2p_sequence = 8,
                         .sizes = "[]"});
  RecordedOperation alone = send;
  alone.p2p_sequence = 9;
  recorder.record("pp", alone);
  read(recorder, "_dump_0");
  const auto& entries = flight.dumps()[0].positions[0].entries;
  EXPECT_EQ(entries[0].role, FlightRole::collective);
  EXPECT_EQ(entries[1].role, FlightRole::batched);
  EXPECT_EQ(entries[1].progress, FlightProgress::completed);
  EXPECT_EQ(entries[2].role, FlightRole::batched);
  EXPECT_EQ(entries[2].progress, FlightProgress::completed);
  EXPECT_EQ(entries[3].role, FlightRole::batch_end);
  EXPECT_EQ(entries[3].sequence, 8U);  // not 3, the collective's number, which it repeats
  EXPECT_EQ(entries[4].role, FlightRole::p2p);
  EXPECT_EQ(entries[4].progress, FlightProgress::scheduled);
}

TEST_F(FlightState, CollectivesOfABatchShareItsEndAndNumber) {
  Recorder recorder;
  recorder.record("0", {.operation = "nccl:_all_gather_base", .state = 's', .sequence = 5});
  recorder.record("0", {.operation = "nccl:_all_gather_base", .state = 's', .sequence = 5});
  recorder.record(
      "0", {.operation = "nccl:ALLGATHER_coalesced", .state = 'c', .sequence = 5, .sizes = "[]"});
  recorder.record("0", {.operation = "nccl:_all_gather_base", .state = 's', .sequence = 6});
  recorder.record("0", {.operation = "nccl:_all_gather_base", .state = 's', .sequence = 6});
  read(recorder, "_dump_0");
  const auto& entries = flight.dumps()[0].positions[0].entries;
  EXPECT_EQ(entries[0].progress, FlightProgress::completed);
  EXPECT_EQ(entries[1].role, FlightRole::batched);
  EXPECT_EQ(entries[2].role, FlightRole::collective);
  EXPECT_EQ(entries[2].sequence, 5U);
  // The next batch has not ended.
  EXPECT_EQ(entries[3].role, FlightRole::batched);
  EXPECT_EQ(entries[4].progress, FlightProgress::scheduled);
}

TEST_F(FlightState, AStartThatWasSeenMeansThatScheduledIsNotStarted) {
  Recorder recorder;
  recorder.record("0", {.state = 'r', .sequence = 1});
  read(recorder, "_dump_0");
  EXPECT_TRUE(flight.dumps()[0].timing);
  Recorder counted;
  counted.status("0", 3, 2, 1);
  counted.record("0", {.state = 's', .sequence = 3});
  read(counted, "_dump_1");
  EXPECT_TRUE(flight.dumps()[1].timing);
}

TEST_F(FlightState, ManyEntriesAreKeptOnlyAsFarAsAnybodyLooksBack) {
  Recorder recorder;
  for (int i = 1; i <= 25'000; ++i) recorder.record("0", {.sequence = i});
  recorder.record("0", {.state = 's', .sequence = 25'001, .stack = "f (a.py:1)"});
  read(recorder, "_dump_0");
  const FlightPosition& world = flight.dumps()[0].positions[0];
  EXPECT_EQ(world.entries.size(), 20'000U);
  EXPECT_EQ(world.forgotten, 5'001U);
  EXPECT_EQ(world.entries.back().sequence, 25'001U);
  ASSERT_NE(world.operation(19'999), nullptr);
}

}  // namespace
}  // namespace faultline
