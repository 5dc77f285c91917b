// Jobs in which each rank waits in a call that another rank has not made, as the dumps of their
// Flight Recorders show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "flight.h"
#include "rules/answer/diagnosis.h"
#include "rules/knowledge/catalog.h"

namespace faultline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class FlightCircles : public testing::Test {
 protected:
  void call(int rank, const std::string& group, char state = 'c',
            const std::string& operation = "nccl:all_reduce",
            const std::string& sizes = "[[640]]") {
    recorders[rank].record(group, {.operation = operation,
                                   .state = state,
                                   .sequence = ++collectives[{rank, group}],
                                   .sizes = sizes,
                                   .stack = "all_reduce from /x/torch/distributed/d.py:1\n"
                                            "step from /job/steps.py:" +
                                            group});
  }

  void half(int rank, const std::string& group, bool sends, int peer, char state = 'c') {
    recorders[rank].record(
        group, {.operation = fmt::format("nccl:{} {}{}{}", sends ? "send" : "recv", rank,
                                         sends ? "->" : "<-", peer),
                .state = state,
                .sequence = collectives[{rank, group}],
                .p2p_sequence = ++halves[{rank, group}],
                .point_to_point = true});
  }
  void send(int rank, int peer, char state = 'c') { half(rank, "all", true, peer, state); }
  void receive(int rank, int peer, char state = 'c') { half(rank, "all", false, peer, state); }

  std::vector<Finding> causes() const {
    JobState job("j");
    for (const auto& [rank, recorder] : recorders)
      job.apply({.job = "j", .name = fmt::format("nccl_trace_rank_{}", rank)}, recorder.batch(),
                Timestamp{});
    static const Catalog catalog = load_catalog();
    return diagnose(job, catalog, {.now = Timestamp{}}).root_causes;
  }

  Finding only_cause() const {
    const std::vector<Finding> found = causes();
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? Finding{} : found.front();
  }

  std::map<int, Recorder> recorders;
  std::map<std::pair<int, std::string>, std::int64_t> collectives;
  std::map<std::pair<int, std::string>, std::int64_t> halves;
};

// Rows of two ranks, columns of three; each step reduces over the row, then over the column.
class MeshOfSix : public FlightCircles {
 protected:
  MeshOfSix() {
    for (int rank = 0; rank < 6; ++rank) {
      recorders[rank].group(row(rank), {rank / 2 * 2, rank / 2 * 2 + 1});
      recorders[rank].group(column(rank), {rank % 2, rank % 2 + 2, rank % 2 + 4});
    }
  }
  static std::string row(int rank) { return fmt::format("row{}", rank / 2); }
  static std::string column(int rank) { return fmt::format("column{}", rank % 2); }

  void steps(int count) {
    for (int step = 0; step < count; ++step)
      for (int rank = 0; rank < 6; ++rank) call(rank, row(rank)), call(rank, column(rank));
  }

  // Ranks 0 and 3 call their column first. The last row finishes its row and waits in the columns.
  void hang(const std::string& operation_of_the_two = "nccl:all_reduce") {
    call(0, column(0), 's', operation_of_the_two);
    call(1, row(1), 's');
    call(2, row(2), 's');
    call(3, column(3), 's', operation_of_the_two);
    for (const int rank : {4, 5})
      call(rank, row(rank)), call(rank, column(rank), 's', operation_of_the_two);
  }
};

TEST_F(MeshOfSix, NamesThoseThatCallTwoGroupsTheOtherWayRoundThanBefore) {
  steps(9);
  hang();
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.collective_mismatch");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(0, 3));
  EXPECT_THAT(cause.title,
              AllOf(HasSubstr("rank 0 in all_reduce, #10 of process group column0 (column0_desc), "
                              "for rank 2"),
                    HasSubstr("rank 3 in all_reduce, #10 of process group column1")));
  ASSERT_FALSE(cause.actions.empty());
  EXPECT_THAT(cause.actions.front().what, HasSubstr("/job/steps.py:column"));
}

TEST_F(MeshOfSix, NamesAllOfTheCircleWhereTooFewStepsTellTheOrder) {
  steps(2);
  hang();
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.collective_mismatch");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(0, 1, 2, 3));
}

// Ranks 0 and 3 may be right, and the other ranks may have left out this call.
TEST_F(MeshOfSix, DoesNotBlameThoseThatDoWhatNoEarlierStepDid) {
  steps(9);
  hang("nccl:all_gather");
  const std::vector<Finding> found = causes();
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found.front().subject.ranks, ElementsAre(0, 1, 2, 3));
}

TEST_F(MeshOfSix, SeesNoCircleWhereOneRankStoppedBeforeItsRow) {
  steps(9);
  call(1, row(1), 's');
  for (const int rank : {2, 3, 4, 5}) call(rank, row(rank)), call(rank, column(rank), 's');
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "collective.rank_behind");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(0));
}

TEST_F(MeshOfSix, SeesNoCircleThroughARankWithoutADump) {
  steps(9);
  hang();
  recorders.erase(2);
  for (const Finding& cause : causes()) EXPECT_NE(cause.cause, "software.collective_mismatch");
}

// All kernels are on their streams, so nothing shows that their order holds them up.
TEST_F(MeshOfSix, SeesNoCircleWhereAllCalledBoth) {
  steps(9);
  hang();
  for (const int rank : {0, 3}) call(rank, row(rank), 's');
  for (const int rank : {1, 2}) call(rank, column(rank), 's');
  for (const Finding& cause : causes()) EXPECT_NE(cause.cause, "software.collective_mismatch");
}

// Three stages of a pipeline: each step has five messages, then a collective of all stages.
class Stages : public FlightCircles {
 protected:
  static constexpr int kMessages = 5;
  Stages() {
    for (int rank = 0; rank < 3; ++rank) recorders[rank].group("all", {0, 1, 2});
  }

  void messages(int rank, int count, char last = 'c') {
    for (int i = 0; i < count; ++i) {
      const char state = i + 1 == count ? last : 'c';
      if (rank > 0) receive(rank, rank - 1, rank == 2 ? state : 'c');
      if (rank < 2) send(rank, rank + 1, state);
    }
  }

  void steps(int count) {
    for (int step = 0; step < count; ++step)
      for (int rank = 0; rank < 3; ++rank) {
        messages(rank, kMessages);
        call(rank, "all");
      }
  }

  // The last stage waits for a message. The middle stage passed on this many and then called the
  // collective.
  void hang(int of_the_middle) {
    messages(0, kMessages);
    call(0, "all", 's');
    messages(1, of_the_middle);
    call(1, "all", 's');
    messages(2, kMessages, 's');
  }
};

TEST_F(Stages, NamesTheStageThatWentOnToTheCollectiveWithoutTheLastMessage) {
  steps(4);
  hang(kMessages - 1);
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.p2p_mismatch");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(1));
  EXPECT_THAT(cause.title, AllOf(HasSubstr("rank 2 in a Recv of process group all"),
                                 HasSubstr("for rank 1"), HasSubstr("#5 of process group all")));
  ASSERT_FALSE(cause.actions.empty());
  EXPECT_THAT(cause.actions.front().what, HasSubstr("/job/steps.py:all"));
}

TEST_F(Stages, NamesThePairWhereTooFewStepsTellWhoIsRight) {
  steps(1);
  hang(kMessages - 1);
  const Finding cause = only_cause();
  EXPECT_EQ(cause.cause, "software.p2p_mismatch");
  EXPECT_THAT(cause.subject.ranks, ElementsAre(1, 2));
}

// The message was sent, and the network or a GPU lost it.
TEST_F(Stages, BlamesNoProgramForAMessageThatWasSent) {
  steps(4);
  hang(kMessages);
  for (const Finding& cause : causes()) EXPECT_NE(cause.cause, "software.p2p_mismatch");
}

// Nothing shows how many messages the ring lost.
TEST_F(Stages, BlamesNoProgramWhereTheRingLostTheFirstMessages) {
  recorders[1].lose(4000);
  steps(4);
  hang(kMessages - 1);
  for (const Finding& cause : causes()) EXPECT_NE(cause.cause, "software.p2p_mismatch");
}

}  // namespace
}  // namespace faultline
