// What each rank called, position by position, as the diagnosis aligns the ranks.
#include "rules/answer/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "flight.h"
#include "job.h"
#include "model/ranks.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OperationsView asked(const Job& job, const OperationsAsked& what = {.from = {}, .to = {}},
                     const std::string& communicator = "world") {
  auto told = operations_of(job.state, job.diagnosis(), communicator, what);
  EXPECT_TRUE(told);
  return told.value_or(OperationsView{});
}

OperationsAsked from_to(std::uint64_t from, std::uint64_t to, std::size_t limit = 1000) {
  return {.from = from, .to = to, .limit = limit};
}

const PositionView& at(const OperationsView& told, std::uint64_t position) {
  static const PositionView kNone;
  const auto found = std::ranges::find(told.operations, position, &PositionView::position);
  EXPECT_NE(found, told.operations.end()) << position;
  return found == told.operations.end() ? kNone : *found;
}

// "7: AllReduce(...) by 0-2 | AllGather(...) by 3; not reached: 4; not known: 5"
std::string in_words(const PositionView& position) {
  std::string text = fmt::format("{}:", position.position);
  for (const CalledView& called : position.called)
    text += fmt::format(" {} by {}", called.operation.function, called.members.ranks);
  if (position.differs) text += ", differs";
  if (position.not_reached.count > 0) text += "; not reached: " + position.not_reached.ranks;
  if (position.not_known.count > 0) text += "; not known: " + position.not_known.ranks;
  return text;
}

std::vector<std::string> in_words(const OperationsView& told) {
  std::vector<std::string> all;
  for (const PositionView& position : told.operations) all.push_back(in_words(position));
  return all;
}

TEST(Operations, TellWhichRankCalledSomethingElse) {
  Job job;
  job.join_all(8);
  job.call(ranks(0, 8), all_reduce(), 6);
  job.call(all_but(3, 8), all_reduce(2048));
  job.call({3}, all_gather());
  const OperationsView told = asked(job, from_to(6, 7));
  EXPECT_THAT(in_words(told), ElementsAre("6: AllReduce by 0-7",
                                          "7: AllReduce by 0-2 4-7 AllGather by 3, differs"));
  EXPECT_EQ(told.basis, "counted");
  EXPECT_EQ(told.diverged_at, 7U);
  EXPECT_EQ(told.first_known, 1U);
  EXPECT_EQ(told.last_known, 7U);
  EXPECT_EQ(told.nranks, 8);
  const PositionView& odd = at(told, 7);
  EXPECT_EQ(odd.label, "#7");
  const OperationView& operation = odd.called.front().operation;
  EXPECT_EQ(operation.text, "AllReduce(count 2048, float32, sum)");
  EXPECT_EQ(operation.count, 2048U);
  EXPECT_EQ(operation.datatype, "float32");
  EXPECT_EQ(operation.reduction, "sum");
  EXPECT_EQ(operation.root, std::nullopt);
  EXPECT_EQ(odd.called.front().members.count, 7U);
  EXPECT_THAT(job.diagnosis().root_causes.at(0).title, HasSubstr("#7"));
}

TEST(Operations, TellWhichRankDidNotComeThatFar) {
  Job job = sixteen_ranks(10);
  job.call(all_but(5, 16), all_gather(), 2);
  EXPECT_THAT(in_words(asked(job, from_to(10, 12))),
              ElementsAre("10: AllReduce by 0-15", "11: AllGather by 0-4 6-15; not reached: 5",
                          "12: AllGather by 0-4 6-15; not reached: 5"));
  EXPECT_THAT(job.diagnosis().ranks.behind, ElementsAre(5));
}

TEST(Operations, TellAllCallsOfRanksThatWereCounted) {
  Job job;
  job.join_all(4);
  for (int step = 0; step < 100; ++step) {
    job.call(ranks(0, 4), all_reduce(), 2);
    job.call(ranks(0, 4), all_gather());
  }
  const OperationsView first = asked(job, from_to(1, 3));
  EXPECT_THAT(in_words(first),
              ElementsAre("1: AllReduce by 0-3", "2: AllReduce by 0-3", "3: AllGather by 0-3"));
  const OperationsView last = asked(job, {.from = {}, .to = {}, .limit = 2});
  EXPECT_THAT(in_words(last), ElementsAre("299: AllReduce by 0-3", "300: AllGather by 0-3"))
      << "without from: the last";
  EXPECT_EQ(last.next, std::nullopt);
  EXPECT_THAT(in_words(asked(job, {.from = {}, .to = 4, .limit = 2})),
              ElementsAre("3: AllGather by 0-3", "4: AllReduce by 0-3"));
  EXPECT_THAT(asked(job, from_to(301, 400)).operations, IsEmpty());
  EXPECT_THAT(asked(job, from_to(0, UINT64_MAX)).operations, testing::SizeIs(300));
}

TEST(Operations, GoOnWhereAPageEnds) {
  Job job = sixteen_ranks(10);
  OperationsAsked what{.from = 2, .to = 9, .limit = 3};
  std::vector<std::uint64_t> seen;
  for (int page = 0; page < 10 && what.from; ++page) {
    const OperationsView told = asked(job, what);
    for (const PositionView& position : told.operations) seen.push_back(position.position);
    what.from = told.next;
  }
  EXPECT_THAT(seen, ElementsAre(2, 3, 4, 5, 6, 7, 8, 9));
}

// The log of rank 2 begins in mid-run; NCCL's op counts count alike.
TEST(Operations, OfALogThatBeganLateAreKnownFromThereOn) {
  Job job;
  for (const int rank : {0, 1, 3}) job.join(rank, "world", rank, 4);
  const auto call = [&](int rank, std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i)
      job.call_once(rank, i % 3 == 0 ? all_gather() : all_reduce(), "world", i);
  };
  for (const int rank : {0, 1, 3}) call(rank, 0, 100);
  call(2, 60, 98);
  const OperationsView told = asked(job, from_to(0, 1000));
  EXPECT_EQ(told.basis, "op_count");
  EXPECT_EQ(told.members_seen, 4);
  EXPECT_EQ(told.first_known, 1U);
  EXPECT_EQ(told.last_known, RecentCalls::kMost);
  EXPECT_THAT(told.doubts, testing::Contains(HasSubstr("only the last 64 calls")));
  const auto count = [&](SomeMembers PositionView::* which) {
    return std::ranges::count_if(told.operations, [&](const PositionView& position) {
      return (position.*which).count == 1;
    });
  };
  EXPECT_EQ(count(&PositionView::not_known), 24) << "36 to 59";
  EXPECT_EQ(count(&PositionView::not_reached), 2);
  EXPECT_EQ(at(told, 64).label, "opCount 63");
  EXPECT_EQ(at(told, 64).not_reached.count, 1U);
  for (const PositionView& position : told.operations) EXPECT_FALSE(position.differs);
}

// NCCL 2.27: the op counts of ranks differ, so only the order of calls is left.
TEST(Operations, WithoutCommonOpCountsFollowTheOrderOfCalls) {
  Job job;
  job.join(0, "world", 0, 3);
  job.join(1, "world", 1, 3);
  const auto call = [&](int rank, int from, int to) {
    for (int i = from; i < to; ++i)
      job.call_once(rank, all_reduce(static_cast<std::uint64_t>(1000 + i)), "world", 0);
  };
  call(0, 0, 100);
  call(1, 0, 99);
  call(2, 50, 100);
  const OperationsView told = asked(job, from_to(1, 1000));
  EXPECT_EQ(told.basis, "sequence");
  ASSERT_THAT(told.operations, testing::SizeIs(64));
  EXPECT_EQ(told.operations.front().not_known.count, 1U);
  EXPECT_EQ(told.operations.back().called.at(0).operation.count, 1099U);
  EXPECT_EQ(told.operations.back().not_reached.ranks, "1");
  EXPECT_EQ(told.operations.back().label, "");
}

TEST(Operations, HaveTheTimesOfTheirLines) {
  const Timestamp noon = parse_rfc3339("2026-03-05T12:00:00Z").value();
  Job job;
  job.clock = EventTime::at(noon);
  job.join_all(2);
  for (int second = 1; second <= 100; ++second) {
    job.clock = EventTime::at(noon + std::chrono::seconds(second));
    job.call({0}, all_reduce());
    job.clock = EventTime::at(noon + std::chrono::milliseconds(1000 * second + 5));
    job.call({1}, all_reduce());
  }
  const OperationsView told = asked(job, from_to(1, 100));
  EXPECT_EQ(at(told, 100).first, noon + std::chrono::seconds(100));
  EXPECT_EQ(at(told, 100).last, noon + std::chrono::milliseconds(100'005));
  EXPECT_EQ(at(told, 36).first, std::nullopt) << "the time of this call is not kept";
  EXPECT_EQ(at(told, 37).first, noon + std::chrono::seconds(37));
}

TEST(Operations, OfEachAttemptAreItsOwn) {
  Job job = sixteen_ranks(3);
  job.restart();
  job.join_all(16, "again");
  job.call(ranks(0, 16), all_gather(), 2, "again");
  const Diagnosis first = job.diagnosis(1);
  EXPECT_EQ(operations_of(job.state, first, "world", {}).value().last_known, 3U);
  EXPECT_FALSE(operations_of(job.state, first, "again", {}));
  EXPECT_EQ(operations_of(job.state, job.diagnosis(), "again", {}).value().attempt, 2);
  EXPECT_FALSE(operations_of(job.state, job.diagnosis(), "none", {}));
}

TEST(Operations, OfAnUnusedCommunicatorAreNone) {
  Job job;
  job.join_all(4);
  const OperationsView told = asked(job);
  EXPECT_EQ(told.first_known, std::nullopt);
  EXPECT_THAT(told.operations, IsEmpty());
}

// Agrees with ranks_of() about who is behind, whatever is missing of logs.
TEST(Operations, AgreeWithWhereRanksStand) {
  for (const int missing : {0, 3, 10, 40}) {
    SCOPED_TRACE(missing);
    Job job;
    const int late_log = std::min(missing / 3, 4);
    for (int rank = late_log; rank < 8; ++rank) job.join(rank, "world", rank, 8);
    for (int rank = 0; rank < 8; ++rank)
      for (int i = rank < late_log ? 50 : 0; i < (rank == 6 ? 118 : 120 - rank % 2); ++i)
        if (missing == 0 || (i * 7 + rank * 13) % (400 / missing) != 0)
          job.call_once(rank, i % 4 == 0 ? all_gather() : all_reduce(), "world",
                        static_cast<std::uint64_t>(i));
    const Diagnosis diagnosis = job.diagnosis();
    const OperationsView told = asked(job, from_to(0, 1000));
    for (const RankView& rank : ranks_of(job.state, diagnosis)) {
      if (rank.standings.at(0).communicator.empty()) continue;
      const auto behind = std::ranges::count_if(told.operations, [&](const PositionView& position) {
        const std::vector<int> late = ranks_of(position.not_reached.ranks);
        return std::ranges::find(late, rank.rank) != late.end();
      });
      EXPECT_EQ(static_cast<std::uint64_t>(behind), rank.standings.at(0).behind) << rank.rank;
    }
  }
}

class RecordedOperations : public testing::Test {
 protected:
  RecordedOperations() {
    std::vector<int> all(4);
    std::iota(all.begin(), all.end(), 0);
    for (const int rank : all) recorders[rank].group("0", all);
  }
  void call(int rank, std::int64_t sequence, char state = 'c',
            const std::string& operation = "nccl:all_reduce", const std::string& sizes = "[[77]]") {
    recorders[rank].record(
        "0", {.operation = operation, .state = state, .sequence = sequence, .sizes = sizes});
  }
  Job job() const {
    Job made;
    for (const auto& [rank, recorder] : recorders)
      made.state.apply({.job = "j", .name = fmt::format("nccl_trace_rank_{}", rank)},
                       recorder.batch(), Timestamp{});
    return made;
  }

  static constexpr const char* kGroup = "0 (0_desc)";
  std::map<int, Recorder> recorders;
};

TEST_F(RecordedOperations, AreThoseOfTheDumps) {
  for (const int rank : {0, 1, 2, 3})
    for (int sequence = rank == 1 ? 8 : 5; sequence <= 9; ++sequence) call(rank, sequence);
  for (const int rank : {0, 1, 2}) call(rank, 10, 's');
  const Job all = job();
  const OperationsView told = asked(all, from_to(0, 100), kGroup);
  EXPECT_THAT(
      in_words(told),
      ElementsAre("5: all_reduce by 0 2-3; not known: 1", "6: all_reduce by 0 2-3; not known: 1",
                  "7: all_reduce by 0 2-3; not known: 1", "8: all_reduce by 0-3",
                  "9: all_reduce by 0-3", "10: all_reduce by 0-2; not reached: 3"));
  EXPECT_EQ(told.basis, "recorded");
  EXPECT_EQ(told.first_known, 5U);
  EXPECT_EQ(at(told, 10).called.at(0).operation.sizes, "[[77]]");
  EXPECT_EQ(at(told, 10).called.at(0).operation.datatype, "Float");
  EXPECT_TRUE(at(told, 10).first);
  const Diagnosis diagnosis = all.diagnosis();
  EXPECT_THAT(diagnosis.root_causes.at(0).subject.ranks, ElementsAre(3));
  EXPECT_THAT(diagnosis.root_causes.at(0).title,
              HasSubstr(fmt::format("#10 of process group {}", kGroup)));
  const JobDetail detail = detail_of(all.state, diagnosis);
  ASSERT_THAT(detail.process_groups, testing::SizeIs(1));
  EXPECT_EQ(detail.process_groups.at(0).id, kGroup);
  EXPECT_EQ(detail.process_groups.at(0).nranks, 4);
  EXPECT_EQ(detail.process_groups.at(0).members_seen, 4);
}

TEST_F(RecordedOperations, TellWhereRanksDiffer) {
  recorders.erase(3);
  for (const int rank : {0, 1, 2}) {
    call(rank, 1, 'c', "nccl:all_to_all", fmt::format("[[{}]]", rank));
    call(rank, 2, 's', "nccl:all_reduce", rank == 2 ? "[[5]]" : "[[77]]");
  }
  const OperationsView told = asked(job(), from_to(0, 100), kGroup);
  EXPECT_THAT(in_words(told),
              ElementsAre("1: all_to_all by 0-2; not known: 3",
                          "2: all_reduce by 0-1 all_reduce by 2, differs; not known: 3"))
      << "sizes of an all_to_all rightly differ";
  EXPECT_EQ(told.diverged_at, 2U);
}

}  // namespace
}  // namespace faultline
