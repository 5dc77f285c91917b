// Jobs of which only the dumps of their Flight Recorders are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "flight.h"
#include "rules/answer/diagnosis.h"
#include "rules/knowledge/catalog.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FlightDiagnosis : public testing::TestWithParam<int> {
 protected:
  FlightDiagnosis() {
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    for (int rank = 0; rank < ranks; ++rank) recorders[rank].group("0", all);
  }

  void call(int rank, std::int64_t sequence, char state = 'c',
            const std::string& operation = "nccl:all_reduce", const std::string& sizes = "[[1024]]",
            const std::string& dtypes = "Float") {
    recorders[rank].record("0", {.operation = operation,
                                 .state = state,
                                 .sequence = sequence,
                                 .sizes = sizes,
                                 .dtypes = dtypes,
                                 .stack = "all_reduce from /x/torch/distributed/d.py:1\n"
                                          "train_step from /job/train.py:131"});
  }
  void all_call(std::int64_t from, std::int64_t to) {
    for (int rank = 0; rank < ranks; ++rank)
      for (std::int64_t sequence = from; sequence <= to; ++sequence)
        call(rank, sequence, 'c', "nccl:all_reduce", sequence % 3 == 0 ? "[[77]]" : "[[1024]]");
  }

  Diagnosis diagnosis() const {
    JobState job("j");
    for (const auto& [rank, recorder] : recorders)
      job.apply({.job = "j", .name = fmt::format("nccl_trace_rank_{}", rank)}, recorder.batch(),
                Timestamp{});
    for (const int rank : logs)
      job.apply({.job = "j", .name = fmt::format("train.rank{}.log", rank)}, Batch{}, Timestamp{});
    static const Catalog catalog = load_catalog();
    return diagnose(job, catalog, {.now = Timestamp{}});
  }

  Finding only_cause() const {
    const Diagnosis found = diagnosis();
    EXPECT_EQ(found.root_causes.size(), 1U) << found.summary;
    return found.root_causes.empty() ? Finding{} : found.root_causes.front();
  }

  int ranks = GetParam();
  const int odd = GetParam() / 2 + 1;
  std::map<int, Recorder> recorders;
  std::set<int> logs;  // ranks that have a log without lines
};

INSTANTIATE_TEST_SUITE_P(Ranks, FlightDiagnosis, testing::Values(4, 64, 512));

TEST_P(FlightDiagnosis, AccusesNobodyWhereAllIsDone) {
  all_call(1, 20);
  const Diagnosis found = diagnosis();
  EXPECT_THAT(found.root_causes, IsEmpty()) << found.summary;
  EXPECT_EQ(found.ranks.expected, ranks);
  EXPECT_EQ(found.ranks.seen, ranks);
}

TEST_P(FlightDiagnosis, NamesTheRankThatNeverEntered) {
  all_call(1, 20);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != odd) call(rank, 21, 's');
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "collective.rank_behind");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(odd));
  EXPECT_THAT(cause.title, HasSubstr("#21"));
  ASSERT_FALSE(cause.actions.empty());
  EXPECT_THAT(cause.actions.front().what, HasSubstr("/job/train.py:131"));
}

TEST_P(FlightDiagnosis, NamesTheRankThatLeftOneOut) {
  all_call(1, 17);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t shift = rank == odd ? 1 : 0;
    for (std::int64_t sequence = 18; sequence <= 20; ++sequence)
      call(rank, sequence, 's', "nccl:all_reduce",
           (sequence + shift) % 3 == 0 ? "[[77]]" : "[[1024]]");
  }
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.collective_skipped");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(odd));
  EXPECT_THAT(cause.title, HasSubstr("left out"));
}

TEST_P(FlightDiagnosis, NamesTheRankThatCalledOneMore) {
  all_call(1, 17);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == odd) call(rank, 18, 's', "nccl:broadcast", "[[5]]");
    const std::int64_t shift = rank == odd ? 1 : 0;
    for (std::int64_t sequence = 18; sequence <= 20; ++sequence)
      call(rank, sequence + shift, 's', "nccl:all_reduce",
           sequence % 3 == 0 ? "[[77]]" : "[[1024]]");
  }
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.collective_skipped");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(odd));
  EXPECT_THAT(cause.title, HasSubstr("an extra call"));
}

TEST_P(FlightDiagnosis, NamesTheRankThatCalledSomethingElse) {
  struct Case {
    const char* operation;
    const char* sizes;
    const char* dtypes;
  };
  for (const Case& it :
       {Case{"nccl:all_gather", "[[1024]]", "Float"}, Case{"nccl:all_reduce", "[[512]]", "Float"},
        Case{"nccl:all_reduce", "[[1024]]", "BFloat16"}}) {
    FlightDiagnosis::recorders.clear();
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    for (int rank = 0; rank < ranks; ++rank) recorders[rank].group("0", all);
    all_call(1, 19);
    for (int rank = 0; rank < ranks; ++rank)
      rank == odd ? call(rank, 20, 's', it.operation, it.sizes, it.dtypes) : call(rank, 20, 's');
    const Finding cause = only_cause();
    EXPECT_EQ(cause.cause, "software.collective_mismatch") << it.operation;
    EXPECT_THAT(cause.subject.ranks, ElementsAre(odd));
  }
}

// No other rank has made the later calls yet, so only earlier steps show which call was left out.
TEST_P(FlightDiagnosis, NamesTheRankThatLeftOneOutByWhatEarlierStepsCalled) {
  const char* const step[] = {"[[1]]", "[[2]]", "[[2]]", "[[2]]", "[[3]]", "[[4]]"};
  const auto size_of = [&](std::int64_t sequence) {
    return step[static_cast<std::size_t>(sequence) % std::size(step)];
  };
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::int64_t sequence = 1; sequence <= 33; ++sequence)
      call(rank, sequence, 'c', "nccl:all_reduce", size_of(sequence));
    if (rank != odd) call(rank, 34, 's', "nccl:all_reduce", size_of(34));
  }
  for (std::int64_t sequence = 34; sequence <= 36; ++sequence)
    call(odd, sequence, 's', "nccl:all_reduce", size_of(sequence + 1));
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.collective_skipped");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(odd));
  EXPECT_THAT(cause.title, HasSubstr("left out"));
}

TEST_P(FlightDiagnosis, DoesNotTakeAnotherCallForOneLeftOutWhereTheRestGoesOnAsBefore) {
  const char* const step[] = {"[[1]]", "[[2]]", "[[3]]", "[[4]]", "[[5]]", "[[6]]"};
  const auto size_of = [&](std::int64_t sequence) {
    return step[static_cast<std::size_t>(sequence) % std::size(step)];
  };
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::int64_t sequence = 1; sequence <= 33; ++sequence)
      call(rank, sequence, 'c', "nccl:all_reduce", size_of(sequence));
    call(rank, 34, 's', "nccl:all_reduce", size_of(rank == odd ? 35 : 34));
  }
  for (std::int64_t sequence = 35; sequence <= 36; ++sequence)
    call(odd, sequence, 's', "nccl:all_reduce", size_of(sequence));
  EXPECT_EQ(only_cause().cause, "software.collective_mismatch");
}

TEST_P(FlightDiagnosis, BlamesNobodyForADumpThatWasNotSent) {
  all_call(1, 20);
  for (int rank = 0; rank < ranks; ++rank) call(rank, 21, 's');
  recorders.erase(odd);
  const Diagnosis found = diagnosis();
  EXPECT_EQ(found.verdict, Verdict::hang);
  EXPECT_EQ(found.ranks.seen, ranks - 1);
  ASSERT_EQ(found.root_causes.size(), 1U) << found.summary;
  EXPECT_EQ(found.root_causes.front().cause, "collective.stalled");
  EXPECT_THAT(found.root_causes.front().subject.ranks, IsEmpty());
  EXPECT_THAT(found.root_causes.front().title, HasSubstr("No dump or log of"));
  ASSERT_FALSE(found.missing_evidence.empty());
  EXPECT_THAT(
      found.missing_evidence,
      testing::Contains(testing::Field(&MissingEvidence::what,
                                       fmt::format("the Flight Recorder dump of rank {}", odd))));
}

TEST_P(FlightDiagnosis, NamesTheOneWhoseLogIsThereAndWhichLeftNoDumpWhereAllOthersWait) {
  all_call(1, 20);
  for (int rank = 0; rank < ranks; ++rank) call(rank, 21, 's');
  recorders.erase(odd);
  logs.insert(odd);
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "collective.rank_behind");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(odd));
  EXPECT_LT(cause.confidence, 0.89);
}

TEST_P(FlightDiagnosis, NamesTheOneWithoutADumpThatStoppedInTheMidstOfACall) {
  all_call(1, 20);
  // One peer finished the call before the odd rank stopped.
  const int let_out = odd == 0 ? 1 : 0;
  for (int rank = 0; rank < ranks; ++rank) {
    call(rank, 21, rank == let_out ? 'c' : 's');
    call(rank, 22, 's');
  }
  recorders.erase(odd);
  logs.insert(odd);
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "collective.rank_behind");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(odd)) << cause.title;
  EXPECT_THAT(cause.title, HasSubstr("or in the next one"));
}

TEST_P(FlightDiagnosis, SaysThatAllEnteredWhereNobodyStandsOut) {
  all_call(1, 20);
  for (int rank = 0; rank < ranks; ++rank) call(rank, 21, 'r');
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "collective.stalled");
}

TEST(FlightDumps, ThatAreRefusedAreAskedForWithTheReason) {
  JobState job("j");
  Batch batch;
  batch.speakers.push_back({});
  Event event;
  event.fact = FlightRecorderDump{.form = "pickle", .refused = "it names code to run (GLOBAL)"};
  batch.events.push_back(std::move(event));
  job.apply({.job = "j", .name = "nccl_trace_rank_3"}, batch, Timestamp{});
  static const Catalog catalog = load_catalog();
  const Diagnosis found = diagnose(job, catalog, {.now = Timestamp{}});
  ASSERT_FALSE(found.missing_evidence.empty());
  EXPECT_THAT(found.missing_evidence.front().what, HasSubstr("nccl_trace_rank_3"));
  EXPECT_THAT(found.missing_evidence.front().why, HasSubstr("names code to run"));
}

}  // namespace
}  // namespace faultline
