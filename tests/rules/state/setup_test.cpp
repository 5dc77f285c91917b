#include "rules/state/setup.h"

#include <gtest/gtest.h>

#include "start.h"

namespace faultline {
namespace {

ProcessKey process(int rank) { return {Job::host_of(rank), 1000 + rank}; }

// One process that prints what NCCL prints.
struct OneProcess {
  Job job;
  void say(Fact fact) { job.say(Job::source_of(0), Job::speaker_of(0), std::move(fact), "line"); }
  void init(std::uint64_t pointer, int rank, int nranks, bool complete, std::int64_t thread) {
    say(CommunicatorInit{.communicator = pointer,
                         .rank = rank,
                         .nranks = nranks,
                         .complete = complete,
                         .thread = thread});
  }
  void connect(int from, int to, std::int64_t thread, bool shared = false) {
    say(PeerConnection{.from = from,
                       .to = to,
                       .direction = "send",
                       .transport = "NET/IB",
                       .device = 1,
                       .shared = shared,
                       .channels = 2,
                       .thread = thread});
  }
  const ProcessSetup& setup() const { return *job.state.setup().find(process(0)); }
  // The communicator in which the peers were connected; 0 if it is not known.
  std::uint64_t communicator_with_links() const {
    std::uint64_t found = 0xdead;
    for (const CommunicatorSetup& c : setup().communicators)
      if (!c.links.empty()) found = c.communicator;
    return found;
  }
};

TEST(Setup, KeepsTheFirstAnswerAndNotesAChangedOne) {
  OneProcess one;
  one.say(Setting{"environment", "NCCL_ALGO", "Ring", 7});
  one.say(Setting{"environment", "NCCL_ALGO", "Ring", 7});
  const auto& setup = one.job.state.setup();
  EXPECT_EQ(*setup.answer(one.setup(), "environment NCCL_ALGO"), "Ring");
  EXPECT_FALSE(one.setup().answers.front().later);
  one.say(Setting{"environment", "NCCL_ALGO", "Tree", 7});
  EXPECT_EQ(*setup.answer(one.setup(), "environment NCCL_ALGO"), "Ring");
  ASSERT_TRUE(one.setup().answers.front().later);
  EXPECT_EQ(setup.text(*one.setup().answers.front().later), "Tree");
  EXPECT_EQ(setup.answer(one.setup(), "environment NCCL_PROTO"), nullptr);
}

TEST(Setup, SumsUpTheConnectionsOfARankByHowTheyAreMade) {
  Job job;
  start(job, 16, all_alike());
  const auto& setup = job.state.setup();
  const ProcessSetup* last_of_host = setup.find(process(7));
  ASSERT_NE(last_of_host, nullptr);
  ASSERT_EQ(last_of_host->communicators.size(), 1u);
  const CommunicatorSetup& world = last_of_host->communicators.front();
  EXPECT_EQ(world.communicator, kWorldPointer);
  EXPECT_EQ(world.rank, 7);
  ASSERT_EQ(world.links.size(), 1u);
  EXPECT_EQ(setup.text(world.links[0].transport), "NET/IB");
  EXPECT_EQ(world.links[0].direction, Direction::send);
  EXPECT_TRUE(world.links[0].gdr);
  EXPECT_EQ(world.links[0].peers, std::vector<int>{8});
  EXPECT_EQ(world.links[0].devices, 0b1000u);
  ASSERT_EQ(world.steps.size(), 1u);
  EXPECT_EQ(setup.text(world.steps[0].step), "rings");
  EXPECT_EQ(*setup.answer(world, "channels collective"), "16");
  EXPECT_EQ(setup.find(process(0))->communicators.front().rings, 2);
}

TEST(Setup, GivesLinesToTheCommunicatorThatTheirThreadSetsUp) {
  OneProcess one;
  one.init(0xa, 0, 8, false, 1);
  one.init(0xb, 0, 8, false, 2);
  one.connect(0, 1, 1);
  EXPECT_EQ(one.communicator_with_links(), 0xau);
}

TEST(Setup, GivesAConnectionOfAnotherThreadToTheLatestCommunicatorThatHasSuchRanks) {
  OneProcess one;
  one.init(0xa, 3, 8, false, 1);
  one.init(0xa, 3, 8, true, 1);
  one.init(0xb, 0, 2, false, 1);
  one.init(0xb, 0, 2, true, 1);
  one.connect(3, 4, 99);
  EXPECT_EQ(one.communicator_with_links(), 0xau);
}

TEST(Setup, DoesNotGuessACommunicatorThatCannotHaveTheConnection) {
  OneProcess one;
  one.init(0xa, 3, 8, false, 1);
  one.init(0xa, 3, 8, true, 1);
  one.connect(5, 6, 99);
  EXPECT_EQ(one.communicator_with_links(), 0u);
}

TEST(Setup, NamesACommunicatorOfAnOldVersionWhenItsOnlyInitLineComes) {
  OneProcess one;
  one.connect(0, 1, 1);
  one.say(Setting{"channels", "collective", "2", 1});
  one.init(0xa, 0, 8, true, 1);
  one.connect(0, 2, 1);
  one.init(0xb, 0, 4, true, 1);
  const ProcessSetup& setup = one.setup();
  ASSERT_EQ(setup.communicators.size(), 2u);
  EXPECT_EQ(setup.communicators[0].communicator, 0xau);
  EXPECT_EQ(setup.communicators[0].links.front().peers, std::vector<int>{1});
  EXPECT_NE(one.job.state.setup().answer(setup.communicators[0], "channels collective"), nullptr);
  EXPECT_EQ(setup.communicators[1].communicator, 0xbu);
  EXPECT_EQ(setup.communicators[1].links.front().peers, std::vector<int>{2});
}

TEST(Setup, BeginsAnewWhenAPointerIsUsedAgain) {
  OneProcess one;
  one.init(0xa, 0, 8, false, 1);
  one.connect(0, 1, 1);
  one.init(0xa, 0, 8, true, 1);
  one.say(CommunicatorEnd{.communicator = 0xa});
  one.init(0xa, 0, 4, false, 1);
  const ProcessSetup& setup = one.setup();
  ASSERT_EQ(setup.communicators.size(), 2u);
  EXPECT_TRUE(setup.communicators[0].ended);
  EXPECT_TRUE(setup.communicators[1].links.empty());
}

TEST(Setup, KnowsTheLineInWhichAHostSaidSo) {
  Job job;
  RankStart odd;
  odd.between_hosts = "NET/Socket";
  odd.gdr = false;
  start(job, 16, all_but_host("node-1", odd));
  const auto& setup = job.state.setup();
  const auto* said = setup.line_of_link("node-1", "NET/Socket", Direction::send, false);
  ASSERT_NE(said, nullptr);
  EXPECT_EQ(said->line.text, "Channel 00/0 : 15 -> 0 via NET/Socket");
  EXPECT_EQ(setup.processes()[said->process].process, process(15));
  EXPECT_EQ(setup.line_of_link("node-0", "NET/Socket", Direction::send, false), nullptr);
  ASSERT_NE(setup.line_of_answer("node-0", "version driver", "12080"), nullptr);
}

TEST(Setup, TellsProcessesWithoutAPidApartByTheirSource) {
  Job job;
  for (int rank : {0, 1})
    job.say(Job::source_of(rank), Speaker{},
            Setting{"version", "nccl", rank == 0 ? "2.20.5" : "2.21.5", 0}, "line");
  EXPECT_EQ(job.state.setup().processes().size(), 2u);
}

TEST(Setup, StaysSmallWhateverALogSays) {
  OneProcess one;
  const std::string long_text(5000, 'x');
  one.init(0xa, 0, 1 << 20, false, 1);
  one.init(0xa, 0, 1 << 20, true, 1);
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(i);
    one.say(Setting{"environment", "NCCL_" + number, long_text, 1});
    one.say(Setting{"ring", number, long_text, 1});
    one.say(SetupStep{.step = number, .thread = 1});
    one.say(PeerConnection{.from = 0, .to = i, .transport = "NET/" + number, .thread = i});
    one.say(PeerConnection{.from = 0, .to = i, .transport = "P2P/IPC", .device = i, .thread = i});
    one.init(static_cast<std::uint64_t>(i), 0, 8, false, i);
  }
  one.say(Setting{"ring", "99999999999999999999", "", 1});
  const ProcessSetup& setup = one.setup();
  EXPECT_LE(setup.answers.size(), 256u);
  EXPECT_LE(setup.communicators.size(), 64u);
  for (const CommunicatorSetup& c : setup.communicators) {
    EXPECT_LE(c.rings, 1024);
    EXPECT_LE(c.links.size(), 24u);
    EXPECT_LE(c.steps.size(), 16u);
    for (const Link& link : c.links) EXPECT_LE(link.peers.size(), 64u);
  }
  EXPECT_EQ(one.job.state.setup().text(setup.answers.front().value).size(), 1024u);
}

}  // namespace
}  // namespace faultline
