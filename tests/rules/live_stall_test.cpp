// What shows only as time passes in a job that is being watched.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job.h"

namespace faultline {
namespace {

using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr seconds kStall{120};

// The ranks' logs are streams that stay open; their lines arrive when the test says so.
class LiveStall : public testing::Test {
 protected:
  LiveStall() {
    job.moment.stall_after = kStall;
    job.open_ended = true;
    set_clock(seconds{1000});
    job.join_all(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) open(rank);
    hear_all();
  }

  void open(int rank) { job.moment.waiting_sources.insert(Job::source_of(rank).name); }
  void cut(int rank) {
    job.moment.waiting_sources.erase(Job::source_of(rank).name);
    heard.erase(rank);
  }
  void set_clock(seconds now) {
    job.received = Timestamp{now};
    job.moment.now = Timestamp{now};
  }
  void pass(seconds time) {
    set_clock(job.moment.now.time_since_epoch() / seconds{1} * seconds{1} + time);
  }
  void hear_all() {
    for (int rank = 0; rank < kRanks; ++rank) heard[rank] = job.moment.now;
  }
  void call(const std::vector<int>& callers) {
    job.call(callers, all_reduce());
    for (const int rank : callers) heard[rank] = job.moment.now;
  }
  Diagnosis diagnosis() {
    job.moment.live_sources.clear();
    for (const auto& [rank, time] : heard)
      if (job.moment.now - time <= kStall)
        job.moment.live_sources.insert(Job::source_of(rank).name);
    return job.diagnosis();
  }
  std::vector<std::string> found() {
    const Diagnosis now = diagnosis();
    std::vector<std::string> all = causes(now.root_causes);
    for (const std::string& symptom : causes(now.symptoms)) all.push_back(symptom);
    return all;
  }

  static constexpr int kRanks = 32;  // on four hosts
  Job job;
  std::map<int, Timestamp> heard;
};

TEST_F(LiveStall, FindsNothingInAnHourOfSourcesAMinuteApart) {
  // The lines of rank r come 2 r seconds late; each rank makes a call every ten seconds.
  for (int second = 0; second < 3600; second += 2) {
    for (int rank = 0; rank < kRanks; ++rank) {
      const int own = second - rank * 2 + rank * 2 % 10;
      if (own >= 0 && own % 10 == 0 && second >= rank * 2) call({rank});
    }
    pass(seconds{2});
    if (second % 30 == 0) {
      ASSERT_THAT(found(), IsEmpty()) << second;
    }
  }
}

TEST_F(LiveStall, FindsTheRankThatStopsWhenItsLogHasBeenSilentForLongEnough) {
  call(ranks(0, kRanks));
  call(all_but(7, kRanks));
  pass(kStall - seconds{5});
  EXPECT_THAT(found(), IsEmpty());
  pass(seconds{6});
  const Diagnosis now = diagnosis();
  ASSERT_THAT(causes(now.root_causes), Contains("collective.rank_behind"));
  EXPECT_THAT(now.root_causes.front().subject.ranks, ElementsAre(7));
}

TEST_F(LiveStall, FindsTheRankThatStopsThoughItsLogGoesOn) {
  call(ranks(0, kRanks));
  call(all_but(7, kRanks));
  for (int second = 0; second <= kStall.count(); second += 10) {
    pass(seconds{10});
    job.warn(7, "still here");
    heard[7] = job.moment.now;
  }
  EXPECT_THAT(found(), Contains("collective.rank_behind"));
}

TEST_F(LiveStall, AccusesNoRankThatIsBusyElsewhere) {
  job.join(7, "own", 0, 1);
  call(ranks(0, kRanks));
  call(all_but(7, kRanks));
  for (int second = 0; second <= 3 * kStall.count(); second += 10) {
    pass(seconds{10});
    job.call({7}, all_gather(), 1, "own");
    heard[7] = job.moment.now;
    ASSERT_THAT(found(), IsEmpty()) << second;
  }
  for (int second = 0; second <= kStall.count(); second += 10) {
    pass(seconds{10});
    job.warn(7, "still here");
    heard[7] = job.moment.now;
  }
  EXPECT_THAT(found(), Contains("collective.rank_behind"));
}

TEST_F(LiveStall, FindsThatNobodyMovesThoughAllCalledTheSame) {
  call(ranks(0, kRanks));
  pass(kStall - seconds{1});
  EXPECT_THAT(found(), IsEmpty());
  pass(seconds{2});
  const Diagnosis now = diagnosis();
  ASSERT_THAT(causes(now.root_causes), ElementsAre("collective.stalled"));
  EXPECT_EQ(now.verdict, Verdict::hang);
  EXPECT_LE(now.root_causes.front().confidence, 0.58) << "it may save a checkpoint";
  call(ranks(0, kRanks));
  EXPECT_THAT(found(), IsEmpty()) << "it went on";
}

TEST_F(LiveStall, SaysNothingOfAJobThatHasEnded) {
  call(ranks(0, kRanks));
  for (int rank = 0; rank < kRanks; ++rank) job.end(rank, "world", CommunicatorEnding::destroyed);
  pass(kStall * 10);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LiveStall, SaysNothingOfLogsWhoseUploadsHaveEnded) {
  call(ranks(0, kRanks));
  job.moment.waiting_sources.clear();
  pass(kStall * 10);
  EXPECT_THAT(found(), Not(Contains("collective.stalled")));
}

TEST_F(LiveStall, FindsTheHostFromWhichNothingComesAnyMore) {
  for (int i = 0; i < 5; ++i) {
    call(ranks(0, kRanks));
    pass(seconds{10});
  }
  for (int rank = 8; rank < 16; ++rank) cut(rank);
  pass(seconds{30});
  EXPECT_THAT(found(), IsEmpty()) << "a shipper may come back";
  pass(kStall);
  const Diagnosis now = diagnosis();
  ASSERT_THAT(causes(now.root_causes), Contains("host.down"));
  EXPECT_THAT(now.root_causes.front().subject.hosts, ElementsAre("node-1"));
}

TEST_F(LiveStall, BlamesNoHostWhenAllUploadsWereCut) {
  call(ranks(0, kRanks));
  for (int rank = 0; rank < kRanks; ++rank) cut(rank);
  pass(kStall * 2);
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(LiveStall, GivesAHostTimeToComeBackAfterTheServiceWasDown) {
  call(ranks(0, kRanks));
  for (int rank = 8; rank < 16; ++rank) cut(rank);
  pass(kStall * 4);
  job.moment.watched_since = job.moment.now;
  hear_all();
  for (int rank = 8; rank < 16; ++rank) heard.erase(rank);
  EXPECT_THAT(found(), Not(Contains("host.down")));
}

TEST_F(LiveStall, CallsNobodySilentBecauseOthersComeLate) {
  // All ranks stop together. The lines of ranks 0 to 2 come by a faster way, so they end first.
  for (int second = 0; second < 60; second += 10) {
    for (int rank = 0; rank < kRanks; ++rank) {
      job.warn(rank, "loss is finite");
      heard[rank] = job.moment.now;
    }
    pass(seconds{10});
  }
  for (int second = 0; second < 60; second += 10) {
    for (int rank = 3; rank < kRanks; ++rank) {
      job.warn(rank, "loss is finite");
      heard[rank] = job.moment.now;
    }
    pass(seconds{10});
  }
  for (int second = 0; second < 600; second += 10) {
    pass(seconds{10});
    ASSERT_THAT(found(), IsEmpty()) << second;
  }
}

TEST_F(LiveStall, FindsTheRankThatIsSilentWhileItsPeersWrite) {
  // No line shows where a rank stands; there are only lines that the programs print.
  for (int second = 0; second < 300; second += 10) {
    pass(seconds{10});
    for (int rank = 0; rank < kRanks; ++rank) {
      if (rank == 9 && second > 60) continue;
      job.warn(rank, "loss is finite");
      heard[rank] = job.moment.now;
    }
  }
  const Diagnosis now = diagnosis();
  ASSERT_THAT(causes(now.root_causes), ElementsAre("process.silent"));
  EXPECT_THAT(now.root_causes.front().subject.ranks, ElementsAre(9));
  EXPECT_LT(now.root_causes.front().severity, Severity::error);
}

}  // namespace
}  // namespace faultline
