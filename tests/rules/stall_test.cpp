// One engine for all witnesses of progress: a member is behind, few are ahead, or all are there and
// the operation does not end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "job.h"
#include "rules/picture/calls/progress_table.h"

namespace faultline {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ProgressRow row(const std::set<int>& missing, const std::set<int>& inside) {
  ProgressRow row;
  for (const int member : missing) row.members[member].how_far = HowFar::not_entered;
  for (const int member : inside) row.members[member].how_far = HowFar::entered;
  row.behind.words = "is behind";
  return row;
}

TEST(Stalls, WhoWaitsElsewhereIsNotWhereItBegan) {
  ProgressTable table;
  table.rows = {row({1}, {0, 2, 3}), row({2}, {1})};
  const std::vector<Stall> stalls = stalls_of(table);
  EXPECT_THAT(stalls, IsEmpty()) << "each waits for the other";
  table.rows = {row({1}, {0, 2, 3}), row({4}, {1})};
  ASSERT_THAT(stalls_of(table), SizeIs(1));
  EXPECT_THAT(stalls_of(table)[0].who, ElementsAre(4));
}

TEST(Stalls, AMinorityThatIsAheadIsWhoIsOddUnlessTheOthersWaitElsewhere) {
  ProgressTable table;
  table.rows = {row({1, 2, 3}, {0})};
  table.rows[0].ahead.words = "is ahead";
  ASSERT_THAT(stalls_of(table), SizeIs(1));
  EXPECT_EQ(stalls_of(table)[0].kind, Stall::Kind::ahead);
  EXPECT_THAT(stalls_of(table)[0].who, ElementsAre(0));
  table.rows.push_back(row({3}, {1, 2}));
  for (const Stall& stall : stalls_of(table)) {
    EXPECT_EQ(stall.kind, Stall::Kind::behind);
    EXPECT_THAT(stall.who, ElementsAre(3));
  }
}

TEST(Stalls, RowsThatNameTheSameRanksAreOneStallHoweverManyThereAre) {
  constexpr int kMany = 1000;
  ProgressTable table;
  for (int i = 0; i < 2 * kMany; ++i) table.rows.push_back(row({i % kMany}, {kMany}));
  const std::vector<Stall> stalls = stalls_of(table);
  ASSERT_THAT(stalls, SizeIs(kMany));
  for (const Stall& stall : stalls) EXPECT_THAT(stall.rows, SizeIs(2));
}

TEST(Stalls, OfNumberedOperationsTheFirstCounts) {
  ProgressTable table;
  table.rows = {row({2}, {}), row({1}, {})};
  table.rows[0].sequence = 7;
  table.rows[1].sequence = 6;
  ASSERT_THAT(stalls_of(table), SizeIs(1));
  EXPECT_THAT(stalls_of(table)[0].who, ElementsAre(1));
}

TEST(Stalls, OfOperationsThatTheSameRankIsMissedInTheFirstOfTheTableTellsIt) {
  ProgressTable table;
  table.rows = {row({1}, {0}), row({1}, {0, 2, 3})};
  ASSERT_THAT(stalls_of(table), SizeIs(1));
  EXPECT_THAT(stalls_of(table)[0].rows, ElementsAre(&table.rows[0], &table.rows[1]));
}

const EventTime kTold = EventTime::at(*parse_rfc3339("2026-03-05T02:40:00Z"), 1s, true);

void tell(Job& job, int rank, Fact fact, const std::string& text, const EventTime& time = kTold) {
  job.say({"j", "all.log", "", -1}, Speaker{.rank = rank}, std::move(fact), text, time);
}

TEST(Stalls, AWatchdogThatTimesOutWhereNobodyElseCameIsAhead) {
  Job job;
  job.join_all(4);
  const TorchGroup group{.id = 0, .name = "0", .description = "default_pg"};
  tell(job, 0,
       WatchdogTimeout{.group = group,
                       .sequence = 42,
                       .operation = "ALLREDUCE",
                       .timeout_ms = 600000,
                       .ran_ms = 600050},
       "Watchdog caught collective operation timeout");
  for (const int rank : {1, 2, 3})
    tell(job, rank,
         WatchdogStatus{.group = group, .teller = "signal", .enqueued = 41, .completed = 41},
         "last enqueued work: 41");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  const Finding& first = diagnosis.root_causes.front();
  EXPECT_EQ(first.cause, "software.collective_skipped") << first.title;
  EXPECT_THAT(first.subject.ranks, ElementsAre(0));
  EXPECT_THAT(first.title, HasSubstr("which none of the 3 others entered"));
  EXPECT_LT(first.confidence, 0.8);
}

// What it does in Python is not the question: it came to the call and did not get through.
TEST(Stalls, ARankThatWaitsInACallWhichItsPeersFinishedIsSentToItsGpuAndItsNetwork) {
  constexpr std::string_view kInIt = "it waits itself in BROADCAST 7, which they finished";
  const auto first_of = [](const TorchGroup& group, std::chrono::minutes before) {
    Job job;
    job.join_all(4);
    const Timestamp noon = Timestamp(std::chrono::hours(24 * 20000 + 12));
    for (int rank = 0; rank < 4; ++rank)
      tell(job, rank,
           WatchdogTimeout{.group = group,
                           .sequence = rank == 1 ? 7U : 1211U,
                           .operation = "BROADCAST",
                           .timeout_ms = 300000,
                           .ran_ms = 300050},
           "Watchdog caught collective operation timeout",
           EventTime::at(rank == 1 ? noon - before : noon));
    const Diagnosis diagnosis = job.diagnosis();
    return diagnosis.root_causes.empty() ? Finding() : diagnosis.root_causes.front();
  };
  const TorchGroup group{.id = 0, .name = "0", .description = "default_pg"};
  const Finding held = first_of(group, 1min);
  EXPECT_THAT(held.subject.ranks, ElementsAre(1));
  EXPECT_THAT(held.title, HasSubstr(kInIt));
  ASSERT_FALSE(held.actions.empty());
  EXPECT_THAT(held.actions.front().what, HasSubstr("kernel log"));
  EXPECT_THAT(first_of(group, 50min).title, testing::Not(HasSubstr(kInIt))) << "an earlier attempt";
  EXPECT_THAT(first_of({}, 1min).title, testing::Not(HasSubstr(kInIt))) << "perhaps another group";
}

TEST(Stalls, OneWhoSubmitsToHorovodWhatNobodyElseDoesIsAhead) {
  Job job;
  job.join_all(4);
  job.say({"j", "horovod.log", "", -1}, Speaker{},
          DesyncEntry{.ranks = {1, 2, 3}, .what = "not_submitted", .operation = "metric"},
          "metric [missing ranks: 1, 2, 3]");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "software.collective_skipped");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, ElementsAre(0));
}

TEST(Stalls, ADesyncReportInWhichEverybodyJoinedIsAStall) {
  Job job;
  job.join_all(4);
  tell(job, 0, DesyncEntry{.ranks = {0, 1, 2, 3}, .what = "not_finished", .sequence = 9},
       "[0, 1, 2, 3] joined but didn't finish collective #9");
  const Diagnosis diagnosis = job.diagnosis();
  ASSERT_FALSE(diagnosis.root_causes.empty());
  EXPECT_EQ(diagnosis.root_causes.front().cause, "collective.stalled");
  EXPECT_THAT(diagnosis.root_causes.front().subject.ranks, IsEmpty());
}

}  // namespace
}  // namespace faultline
