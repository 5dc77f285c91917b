#include "rules/state/communicators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "job.h"

namespace faultline {
namespace {

using ::testing::ElementsAre;

const Source kLog{"j", "train.log", "", -1};

Speaker on(const std::string& host) { return {.host = host, .pid = 1000}; }

// Processes that make one communicator after another.
struct Makers : Job {
  std::uint64_t made = 0;

  void make(const std::string& host, int rank, int nranks, const std::string& id = "",
            std::optional<std::uint64_t> parent = {}) {
    say(kLog, on(host),
        CommunicatorInit{.communicator = ++made,
                         .rank = rank,
                         .nranks = nranks,
                         .cuda_device = 0,
                         .gpu = gpu_of(0),
                         .communicator_id = id,
                         .parent = parent,
                         .complete = true},
        "Init COMPLETE");
  }

  // A call on a communicator whose Init line was lost.
  void call_unseen(const std::string& host, int device, int nranks) {
    Batch batch;
    batch.from_offset = batch.to_offset = 100 * ++made;
    batch.first_line = made;
    batch.speakers = {{.host = host, .pid = 1000, .device = device}};
    batch.signatures = {all_reduce()};
    CallRun run;
    run.communicator = ++made;
    run.nranks = nranks;
    run.calls = {{0, 0, 0, 0}};
    batch.runs = {run};
    state.apply(kLog, batch, {});
  }

  std::vector<Communicator> communicators() const {
    std::vector<std::size_t> all(state.progress().members().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return communicators_of(state.progress(), all);
  }
};

constexpr int kMany = 3000;

TEST(Communicators, WithoutIdsOfWhichOneRankIsSeenAreAsManyAsItMade) {
  Makers job;
  for (int i = 0; i < kMany; ++i) job.make("node-0", 0, 2);
  const std::vector<Communicator> found = job.communicators();
  ASSERT_EQ(found.size(), kMany);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, fmt::format("2-ranks-{}", i + 1));
    EXPECT_THAT(found[i].members, ElementsAre(i));
  }
}

TEST(Communicators, OfManyAreEachCompletedByTheirOtherHalf) {
  // Rank 0 prints ids, and rank 1 does not.
  Makers job;
  for (int i = 0; i < kMany; ++i) job.make("node-0", 0, 2, fmt::format("0x{:x}", i));
  for (int i = 0; i < kMany; ++i) job.make("node-1", 1, 2);
  const std::vector<Communicator> found = job.communicators();
  ASSERT_EQ(found.size(), kMany);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].id, fmt::format("0x{:x}", i));
    EXPECT_THAT(found[i].members, ElementsAre(i, kMany + i));
  }
}

TEST(Communicators, AreCompletedByWhoHasTheRanksThatTheyLack) {
  Makers job;
  job.make("node-0", 0, 4, "0x1");
  job.make("node-1", 1, 4, "0x1");
  job.make("node-0", 0, 4, "0x2");
  job.make("node-2", 2, 4, "0x2");
  job.make("node-2", 2, 4, "0x3", 7);  // a split: all ranks make it in the same call
  job.make("node-3", 0, 4, "0x3", 7);
  job.make("node-1", 1, 4);
  job.make("node-3", 3, 4);
  const std::vector<Communicator> found = job.communicators();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_THAT(found[0].members, ElementsAre(0, 1));
  EXPECT_THAT(found[1].members, ElementsAre(2, 6, 3, 7));
  EXPECT_THAT(found[2].members, ElementsAre(5, 4));
}

TEST(Communicators, TakeAStrangerInIfOnlyOneHasRoom) {
  Makers job;
  for (int i = 0; i < kMany; ++i) {
    job.make("node-0", 0, 2, fmt::format("0x{:x}", i));
    if (i != kMany / 2) job.make("node-1", 1, 2, fmt::format("0x{:x}", i));
  }
  const std::size_t stranger = 2 * kMany - 1;
  job.call_unseen("node-1", -1, 2);
  job.call_unseen("node-1", -1, 2);  // no room is left
  const std::vector<Communicator> found = job.communicators();
  ASSERT_EQ(found.size(), kMany);
  EXPECT_THAT(found[kMany / 2].members, ElementsAre(kMany, stranger));
}

TEST(Communicators, TakeNoStrangerInIfSeveralHaveRoom) {
  Makers job;
  for (int i = 0; i < kMany; ++i) job.make("node-0", 0, 2, fmt::format("0x{:x}", i));
  for (int i = 0; i < kMany; ++i) job.call_unseen("node-1", -1, 2);
  for (const Communicator& communicator : job.communicators())
    EXPECT_EQ(communicator.members.size(), 1U);
}

TEST(Communicators, TakeNoStrangerInFromAnotherDeviceIfTheirLikesAreOnOne) {
  Makers job;
  for (const char* host : {"node-0", "node-1", "node-2"}) job.make(host, host[5] - '0', 3, "0x1");
  job.make("node-0", 0, 3, "0x2");
  job.make("node-1", 1, 3, "0x2");
  job.call_unseen("node-2", 5, 3);
  job.call_unseen("node-2", -1, 3);  // no device, like the calls of its peers
  const std::vector<Communicator> found = job.communicators();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[1].members, ElementsAre(3, 4, 6));
}

}  // namespace
}  // namespace faultline
