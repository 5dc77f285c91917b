#include "rules/picture/calls/flight_alignment.h"
#include "rules/picture/calls/told/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "flight.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> first_ranks(int ranks) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(rank);
  return all;
}

// A job in which every rank has a dump, unless the test removes it.
class FlightJob : public testing::TestWithParam<int> {
 protected:
  FlightJob() {
    for (int rank = 0; rank < ranks; ++rank) recorders[rank].group("0", first_ranks(ranks));
  }

  void all_reduce(int rank, std::int64_t sequence, char state = 'c',
                  const std::string& sizes = "[[1024]]") {
    recorders[rank].record("0", {.state = state, .sequence = sequence, .sizes = sizes});
  }

  void all_reduces(int from, int to) {
    for (int rank = 0; rank < ranks; ++rank)
      for (int sequence = from; sequence <= to; ++sequence) all_reduce(rank, sequence);
  }

  FlightAlignment aligned() {
    flight = {};
    for (const auto& [rank, recorder] : recorders) {
      const Source origin{.job = "j", .name = fmt::format("_dump_{}", rank)};
      for (const Event& event : recorder.batch().events)
        flight.apply(static_cast<std::uint32_t>(rank), origin, event);
    }
    return align_flight(flight);
  }

  // The ranks that are waited for and wait for nobody.
  std::vector<int> never_entered(const FlightAlignment& alignment) const {
    const WaitsOf<int> waits = waits_of(table_of_recorder(flight, alignment));
    std::vector<int> origins;
    std::ranges::copy_if(waits.waited_for, std::back_inserter(origins),
                         [&](int rank) { return waits.is_origin(rank); });
    return origins;
  }

  bool is_circle(const FlightAlignment& alignment) const {
    return waits_of(table_of_recorder(flight, alignment)).circular();
  }

  int ranks = GetParam();
  std::map<int, Recorder> recorders;
  Flight flight;
};

INSTANTIATE_TEST_SUITE_P(Jobs, FlightJob, testing::Values(4, 64, 512));

TEST_P(FlightJob, WhereEverythingIsDoneNothingIsStuck) {
  all_reduces(1, 20);
  const FlightAlignment alignment = aligned();
  EXPECT_THAT(alignment.stalls, IsEmpty());
  EXPECT_THAT(alignment.mismatches, IsEmpty());
  EXPECT_THAT(never_entered(alignment), IsEmpty());
  EXPECT_THAT(alignment.unfinished, IsEmpty());
}

TEST_P(FlightJob, ARankThatNeverEnteredIsNamed) {
  all_reduces(1, 20);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != 2) all_reduce(rank, 21, 's');
  const FlightAlignment alignment = aligned();
  ASSERT_EQ(alignment.stalls.size(), 1U);
  EXPECT_EQ(alignment.stalls[0].sequence, 21U);
  EXPECT_THAT(alignment.stalls[0].with(FlightStanding::not_entered), ElementsAre(2));
  EXPECT_EQ(alignment.stalls[0].with(FlightStanding::entered).size(),
            static_cast<std::size_t>(ranks - 1));
  EXPECT_THAT(never_entered(alignment), ElementsAre(2));
}

TEST_P(FlightJob, TheFirstRankIsTheOddOneLikeAnyOther) {
  all_reduces(1, 20);
  for (int rank = 1; rank < ranks; ++rank) all_reduce(rank, 21, 's');
  EXPECT_THAT(never_entered(aligned()), ElementsAre(0));
}

TEST_P(FlightJob, ARankWithoutADumpIsNotAccusedOfNotEntering) {
  all_reduces(1, 20);
  for (int rank = 0; rank < ranks; ++rank) all_reduce(rank, 21, 's');
  recorders.erase(3);
  const FlightAlignment alignment = aligned();
  EXPECT_THAT(alignment.stalls[0].with(FlightStanding::no_dump), ElementsAre(3));
  EXPECT_THAT(never_entered(alignment), IsEmpty());
}

TEST_P(FlightJob, ASkippedCollectiveIsAMismatchOfTheRankThatSkipped) {
  all_reduces(1, 20);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != 1) all_reduce(rank, 21, 's', "[[4096]]");
    all_reduce(rank, rank == 1 ? 21 : 22, 's', "[[1]]");
  }
  const FlightAlignment alignment = aligned();
  ASSERT_EQ(alignment.mismatches.size(), 1U);
  EXPECT_EQ(alignment.mismatches[0].sequence, 21U);
  ASSERT_EQ(alignment.mismatches[0].camps.size(), 2U);
  EXPECT_THAT(alignment.mismatches[0].camps[1].ranks, ElementsAre(1));
}

TEST_P(FlightJob, WhereAllEnteredAndSomeFinishedThoseThatDidNotAreNamed) {
  all_reduces(1, 20);
  for (int rank = 0; rank < ranks; ++rank) {
    const char state = rank == 3 ? 's' : 'c';
    all_reduce(rank, 21, state);
    all_reduce(rank, 22, state);
    all_reduce(rank, 23, 's');
  }
  const FlightAlignment alignment = aligned();
  EXPECT_THAT(alignment.unfinished, ElementsAre(3));
  EXPECT_THAT(never_entered(alignment), IsEmpty());
  EXPECT_FALSE(is_circle(alignment));
  const FlightStall::Rank& peer = alignment.stalls[0].ranks[0];
  EXPECT_TRUE(peer.stuck_later);
  EXPECT_EQ(peer.ahead, 1U);
}

TEST_P(FlightJob, StartedAndScheduledAreToldApart) {
  for (int rank = 0; rank < ranks; ++rank) all_reduce(rank, 5, rank == 1 ? 's' : 'r');
  const FlightAlignment alignment = aligned();
  EXPECT_THAT(alignment.stalls[0].with(FlightStanding::entered), ElementsAre(1));
  EXPECT_EQ(alignment.stalls[0].with(FlightStanding::started).size(),
            static_cast<std::size_t>(ranks - 1));
}

// A rank of a tensor group stopped: its group waits for it, and the next stage waits for the group.
TEST_P(FlightJob, WhoWaitsInAnotherGroupIsNotWhereItBegan) {
  all_reduces(1, 3);
  for (int rank = 0; rank < ranks; ++rank)
    recorders[rank].group(rank < 2 ? "first" : "others",
                          rank < 2 ? std::vector<int>{0, 1} : std::vector<int>{2, 3});
  // Rank 1 stopped. Rank 0 waits for it in their group, and all other ranks wait for both.
  recorders[0].record("first", {.state = 's', .sequence = 8});
  recorders[1].record("first", {.state = 'c', .sequence = 7});
  for (int rank = 2; rank < ranks; ++rank) all_reduce(rank, 4, 's');
  const FlightAlignment alignment = aligned();
  EXPECT_THAT(never_entered(alignment), ElementsAre(1));
}

TEST_P(FlightJob, APeerThatNeverPostedIsNamed) {
  const RecordedOperation recv{
      .operation = "nccl:recv 1<-0", .state = 's', .p2p_sequence = 9, .point_to_point = true};
  all_reduces(1, 3);
  recorders[1].record("0", recv);
  const FlightAlignment alignment = aligned();
  ASSERT_EQ(alignment.peer_waits.size(), 1U);
  EXPECT_EQ(alignment.peer_waits[0].rank, 1);
  EXPECT_EQ(alignment.peer_waits[0].peer, 0);
  EXPECT_FALSE(alignment.peer_waits[0].peer_posted);
  EXPECT_THAT(never_entered(alignment), ElementsAre(0));
}

TEST_P(FlightJob, TwoThatBothSendFirstAreACircle) {
  all_reduces(1, 3);
  recorders[0].record(
      "0",
      {.operation = "nccl:send 0->1", .state = 's', .p2p_sequence = 1, .point_to_point = true});
  recorders[1].record(
      "0",
      {.operation = "nccl:send 1->0", .state = 's', .p2p_sequence = 1, .point_to_point = true});
  const FlightAlignment alignment = aligned();
  EXPECT_THAT(never_entered(alignment), IsEmpty());
  EXPECT_TRUE(is_circle(alignment));
}

TEST_P(FlightJob, SplitsOfAllToAllMayDiffer) {
  for (int rank = 0; rank < ranks; ++rank)
    recorders[rank].record("0", {.operation = "nccl:all_to_all",
                                 .sequence = 1,
                                 .sizes = fmt::format("[[{}]]", 4000 + rank)});
  EXPECT_THAT(aligned().mismatches, IsEmpty());
}

// Only active entries were dumped, so a rank without entries is known only by its counters.
TEST_P(FlightJob, CountersOfANamelessGroupTellWhereItStands) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == 2) continue;
    recorders[rank].status("0", 21, -1, 20);
    recorders[rank].local_id("0", 4);
    all_reduce(rank, 21, 's');
  }
  recorders[2].status("", 20, -1, 20);
  recorders[2].local_id("", 4);
  EXPECT_THAT(never_entered(aligned()), ElementsAre(2));
  // Counters so far from those of group 0 belong to another group.
  recorders[2].status("", 7, -1, 7);
  const FlightAlignment other = aligned();
  EXPECT_THAT(other.stalls[0].with(FlightStanding::unknown), ElementsAre(2));
  EXPECT_THAT(never_entered(other), IsEmpty());
}

TEST_P(FlightJob, WhatLeftTheRingIsNotMissing) {
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == 1)
      all_reduce(rank, 40, 's');
    else
      all_reduce(rank, 21, rank == 0 ? 's' : 'c');
  }
  EXPECT_THAT(never_entered(aligned()), IsEmpty());
}

}  // namespace
}  // namespace faultline
