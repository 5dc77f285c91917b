#include "rules/picture/read/fingerprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "start.h"

namespace faultline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::set<std::string>;

StartFingerprint fingerprint_of_job(const Job& job) {
  return fingerprint_of(job.state.setup(), [](const ProcessKey&) { return true; });
}

StartFingerprint started(const RankStarts& starts, int ranks = 16) {
  Job job;
  start(job, ranks, starts);
  return fingerprint_of_job(job);
}

const Change* change_named(const std::vector<Change>& changes, std::string_view question) {
  const auto found = std::ranges::find(changes, question, &Change::question);
  return found == changes.end() ? nullptr : &*found;
}

TEST(Fingerprint, HoldsWhatEveryHostSaid) {
  const StartFingerprint fingerprint = started(all_alike());
  EXPECT_EQ(fingerprint.ranks, 16);
  ASSERT_EQ(fingerprint.hosts.size(), 2u);
  const HostAnswers& answers = fingerprint.hosts.at("node-0");
  EXPECT_EQ(answers.at("version nccl"), Values{"2.27.7+cuda12.8"});
  EXPECT_EQ(answers.at("version driver"), Values{"12080"});
  EXPECT_EQ(answers.at("network used"), Values{"IB"});
  EXPECT_EQ(answers.at("network connected"), Values{"NET/IB"});
  EXPECT_EQ(answers.at("transport within"), Values{"P2P/CUMEM"});
  EXPECT_EQ(answers.at("gdr send"), Values{"on"});
  EXPECT_EQ(answers.at("gdr receive"), Values{"on"});
  EXPECT_EQ(answers.at("channels collective"), Values{"16"});
  EXPECT_EQ(answers.at("rings"), Values{"2"});
  EXPECT_EQ(answers.at("nvls multicast"), Values{"available"});
  EXPECT_EQ(answers.at("environment NCCL_IB_HCA"), Values{"mlx5"});
}

TEST(Fingerprint, LeavesOutConnectionsThatAreStillBeingMade) {
  Job job;
  const Speaker speaker = Job::speaker_of(0);
  job.say(Job::source_of(0), speaker,
          CommunicatorInit{.communicator = 1, .rank = 0, .nranks = 8, .thread = 1}, "Init START");
  job.say(Job::source_of(0), speaker,
          PeerConnection{.from = 0, .to = 1, .transport = "SHM/direct", .thread = 1}, "via SHM");
  EXPECT_FALSE(fingerprint_of_job(job).hosts.at("node-0").contains("transport within"));
  job.say(Job::source_of(0), speaker, SetupStep{.step = "rings", .thread = 1}, "Connected");
  EXPECT_TRUE(fingerprint_of_job(job).hosts.at("node-0").contains("transport within"));
}

TEST(Fingerprint, LeavesOutWhatCouldNotBePrintedWhole) {
  const StartFingerprint fingerprint = started([](int) {
    RankStart start;
    start.devices = "mlx5_0:1/IB ...";
    return start;
  });
  EXPECT_FALSE(fingerprint.hosts.at("node-0").contains("devices IB"));
}

TEST(Fingerprint, CountsOnlyTheProcessesOfTheStart) {
  Job job;
  start(job, 16, all_alike());
  const StartFingerprint one = fingerprint_of(
      job.state.setup(), [](const ProcessKey& process) { return process.host == "node-1"; });
  EXPECT_EQ(one.hosts.size(), 1u);
  EXPECT_TRUE(one.hosts.contains("node-1"));
}

TEST(Fingerprint, OfTheSameStartHasNoChange) {
  EXPECT_THAT(compare(started(all_alike()), started(all_alike())), IsEmpty());
}

TEST(Fingerprint, TellsWhichHostsAnswerOtherwiseThanBefore) {
  const auto changes = compare(started([](int rank) {
                                 RankStart start;
                                 if (rank >= 8) start.devices = "mlx5_0:1/IB";
                                 return start;
                               }),
                               started(all_alike()));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].question, "devices IB");
  EXPECT_EQ(changes[0].before, Values{"mlx5_0:1/IB mlx5_1:1/IB mlx5_2:1/IB mlx5_3:1/IB"});
  EXPECT_EQ(changes[0].now, Values{"mlx5_0:1/IB"});
  EXPECT_THAT(changes[0].hosts, ElementsAre("node-1"));
}

TEST(Fingerprint, HoldsANewHostAgainstAllOfBefore) {
  StartFingerprint before = started(all_alike());
  before.hosts.erase("node-1");
  EXPECT_THAT(compare(started(all_alike()), before), IsEmpty());
  const auto changes = compare(started([](int rank) {
                                 RankStart start;
                                 if (rank >= 8) start.driver = "12040";
                                 return start;
                               }),
                               before);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].hosts, ElementsAre("node-1"));
}

TEST(Fingerprint, TakesWhatOnlyOneOfTheTwoToldForNoChange) {
  const auto silent = [](int) {
    RankStart start;
    start.nccl = start.network = start.multicast = "";
    start.environment.clear();
    return start;
  };
  EXPECT_THAT(compare(started(silent), started(all_alike())), IsEmpty());
  EXPECT_THAT(compare(started(all_alike()), started(silent)), IsEmpty());
}

TEST(Fingerprint, DoesNotCompareConnectionsOfJobsOfOtherSizes) {
  const auto other = [](int) {
    RankStart start;
    start.channels = "2";
    start.within_host = "P2P/IPC";
    start.nccl = "2.28.3+cuda12.8";
    return start;
  };
  const auto changes = compare(started(other, 24), started(all_alike(), 16));
  EXPECT_NE(change_named(changes, "version nccl"), nullptr);
  EXPECT_EQ(change_named(changes, "channels collective"), nullptr);
  EXPECT_EQ(change_named(changes, "transport within"), nullptr);
  EXPECT_NE(change_named(compare(started(other), started(all_alike())), "transport within"),
            nullptr);
}

}  // namespace
}  // namespace faultline
