// How nodes of Kubernetes are taken and given back, against a stand-in of its API.
#include "guard/kubernetes_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_kubernetes.h"

namespace faultline {
namespace {

using testing::HasSubstr;

const Timestamp kTakenAt = *parse_rfc3339("2026-11-29T08:00:00Z");
const GuardMark kTheMark{"f27", "i12", kTakenAt};
const GuardFinding kLostGpu{.id = "f27",
                            .cause = "gpu.off_bus",
                            .title = "GPU fell off the bus",
                            .severity = "critical",
                            .hosts = {"node-2"},
                            .job = "llama",
                            .incident = "i12",
                            .role = "cause",
                            .state = "open",
                            .reason = {},
                            .review = {},
                            .opened = {},
                            .resolved = {}};
constexpr const char* kGpuTaint = R"({"taints":[{"key":"nvidia.com/gpu","effect":"NoSchedule"}]})";
constexpr const char* kOnlyGpuTaint = R"([{"key":"nvidia.com/gpu","effect":"NoSchedule"}])";

class Kubernetes : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"node-1", "node-2", "node-3", "node-4", "node-5"})
      api.add_node(name, kGpuTaint);
  }

  GuardNode seen(const std::string& name) {
    const auto nodes = cluster.nodes();
    EXPECT_TRUE(nodes) << nodes.error().message;
    const auto found = std::ranges::find(*nodes, name, &GuardNode::name);
    return found == nodes->end() ? GuardNode{} : *found;
  }

  FakeKubernetes api;
  KubernetesCluster cluster{{.url = *parse_url(api.url()), .ca_file = {}, .token_file = {}}, ""};
};

TEST_F(Kubernetes, SeesTheNodesOfAllPages) {
  const auto nodes = cluster.nodes();
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->size(), 5U);
  EXPECT_TRUE(std::ranges::all_of(*nodes, &GuardNode::schedulable));
}

TEST_F(Kubernetes, SeesWhichNodesAreOutOfScheduling) {
  api.change_node("node-1", R"({"spec":{"unschedulable":true}})");
  api.change_node("node-2", R"({"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})");
  EXPECT_FALSE(seen("node-1").schedulable);
  EXPECT_FALSE(seen("node-2").schedulable);
  EXPECT_TRUE(seen("node-3").schedulable);
}

TEST_F(Kubernetes, TakesANodeWithATaintBesideThoseOfOthersAndTellsOfIt) {
  ASSERT_TRUE(cluster.take("node-2", kLostGpu, kTheMark));
  EXPECT_EQ(api.taints("node-2"),
            R"([{"key":"nvidia.com/gpu","effect":"NoSchedule"},)"
            R"({"key":"faultline/hardware","value":"gpu.off_bus","effect":"NoSchedule"}])");
  const GuardNode node = seen("node-2");
  EXPECT_TRUE(node.taken);
  EXPECT_FALSE(node.schedulable);
  EXPECT_EQ(node.memory, (GuardMemory{.marks = {kTheMark}, .settled = {}}));
  ASSERT_EQ(api.events().size(), 1U);
  const std::string event = boost::json::serialize(api.events()[0]);
  EXPECT_THAT(event, HasSubstr("FaultlineTaintAdded"));
  EXPECT_THAT(event, HasSubstr(R"("name":"node-2")"));
  EXPECT_EQ(api.taints("node-1"), kOnlyGpuTaint);
}

TEST_F(Kubernetes, LooksAgainIfTheNodeChangedInBetween) {
  int others = 0;
  api.before_patch = [&] {
    if (++others <= 2)
      api.change_node("node-2", R"({"spec":{"taints":[{"key":"new","effect":"NoExecute"}]}})");
  };
  ASSERT_TRUE(cluster.take("node-2", kLostGpu, kTheMark));
  EXPECT_EQ(api.patches(), 3);
  EXPECT_THAT(api.taints("node-2"), HasSubstr("new"));
  EXPECT_THAT(api.taints("node-2"), HasSubstr(kGuardTaint));
}

TEST_F(Kubernetes, GivesUpANodeThatNeverStandsStill) {
  api.before_patch = [&] { api.change_node("node-2", R"({"status":{"phase":"x"}})"); };
  const auto done = cluster.take("node-2", kLostGpu, kTheMark);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("409"));
  EXPECT_EQ(api.taints("node-2"), kOnlyGpuTaint);
  EXPECT_TRUE(api.events().empty());
}

TEST_F(Kubernetes, DoesNotTakeANodeThatSomebodyCordonedMeanwhile) {
  api.before_patch = [&] { api.change_node("node-2", R"({"spec":{"unschedulable":true}})"); };
  EXPECT_FALSE(cluster.take("node-2", kLostGpu, kTheMark));
  EXPECT_EQ(api.taints("node-2"), kOnlyGpuTaint);
}

TEST_F(Kubernetes, GivesBackOnlyItsOwnTaintAndRemembersIt) {
  ASSERT_TRUE(cluster.take("node-2", kLostGpu, kTheMark));
  ASSERT_TRUE(cluster.give_back("node-2", "f27", "it is over (not_seen)", kTakenAt));
  EXPECT_EQ(api.taints("node-2"), kOnlyGpuTaint);
  EXPECT_FALSE(seen("node-2").taken);
  EXPECT_TRUE(seen("node-2").schedulable);
  EXPECT_EQ(seen("node-2").memory, (GuardMemory{.marks = {kTheMark}, .settled = kTakenAt}));
  EXPECT_EQ(api.events().size(), 2U);
}

TEST_F(Kubernetes, GivesNoNodeBackThatWasTakenForSomethingElse) {
  ASSERT_TRUE(cluster.take("node-2", kLostGpu, kTheMark));
  EXPECT_FALSE(cluster.give_back("node-2", "f99", "", kTakenAt));
  EXPECT_FALSE(cluster.give_back("node-1", "f27", "", kTakenAt));
  EXPECT_THAT(api.taints("node-2"), HasSubstr(kGuardTaint));
}

TEST_F(Kubernetes, RemembersWithANodeWhatIsSettled) {
  ASSERT_TRUE(cluster.take("node-2", kLostGpu, kTheMark));
  ASSERT_TRUE(cluster.give_back("node-2", "f27", "", kTakenAt));
  const GuardMark next{"f28", "i13", kTakenAt + std::chrono::hours{1}};
  ASSERT_TRUE(cluster.take("node-2", kLostGpu, next));
  ASSERT_TRUE(cluster.settle("node-2", kTakenAt + std::chrono::hours{2}));
  EXPECT_EQ(seen("node-2").memory,
            (GuardMemory{.marks = {kTheMark, next}, .settled = kTakenAt + std::chrono::hours{2}}));
  EXPECT_THAT(api.taints("node-2"), HasSubstr(kGuardTaint));
  EXPECT_EQ(api.taints("node-1"), kOnlyGpuTaint);
}

TEST_F(Kubernetes, TakesNoNodeWhoseMemoryCannotBeRead) {
  api.change_node("node-2", R"({"metadata":{"annotations":{"faultline/guard":"finding=?"}}})");
  EXPECT_EQ(seen("node-2").memory.settled, Timestamp::max());
}

TEST_F(Kubernetes, KnowsNodesWithGpusThoseOfTheClusterAndThoseThatOthersAvoid) {
  api.change_node("node-1", R"({"status":{"capacity":{"nvidia.com/gpu":"8"}}})");
  api.change_node("node-2", R"({"status":{"capacity":{"nvidia.com/gpu":"0"}},
      "metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}})");
  api.change_node("node-3", R"({"spec":{"taints":[{"key":"repair","effect":"NoSchedule"}]}})");
  EXPECT_TRUE(seen("node-1").has_gpus);
  EXPECT_FALSE(seen("node-2").has_gpus);
  EXPECT_TRUE(seen("node-2").is_never_taken);
  EXPECT_FALSE(seen("node-1").is_never_taken);
  EXPECT_TRUE(seen("node-3").is_avoided);
  EXPECT_FALSE(seen("node-1").is_avoided);  // its taint says that it has GPUs
  KubernetesCluster told{
      {.url = *parse_url(api.url()), .ca_file = {}, .token_file = {}}, "", {"repair"}};
  const auto nodes = told.nodes();
  ASSERT_TRUE(nodes);
  EXPECT_FALSE(nodes->at(2).is_avoided);
}

TEST_F(Kubernetes, ChangesNoNodeThatIsNotTheOneAskedForOrHasNoVersion) {
  api.change_node("node-2", R"({"metadata":{"name":"node-9"}})");
  EXPECT_FALSE(cluster.take("node-2", kLostGpu, kTheMark));
  api.change_node("node-1", R"({"metadata":{"resourceVersion":"7"}})");
  api.forget_version("node-1");
  EXPECT_FALSE(cluster.take("node-1", kLostGpu, kTheMark));
  EXPECT_EQ(api.patches(), 0);
}

TEST_F(Kubernetes, CutsTheMessageOfAnEventBetweenCharacters) {
  GuardFinding finding = kLostGpu;
  finding.title.clear();
  for (int i = 0; i < 600; ++i) finding.title += "\u00e9";
  ASSERT_TRUE(cluster.take("node-2", finding, kTheMark));
  ASSERT_EQ(api.events().size(), 1U);
  const std::string message(api.events()[0].at("message").as_string());
  EXPECT_GT(message.size(), 990U);
  EXPECT_TRUE(message.ends_with("\u00e9"));
}

TEST_F(Kubernetes, AnApiThatIsAwayIsAnError) {
  KubernetesCluster away{{.url = *parse_url("http://127.0.0.1:9"), .ca_file = {}, .token_file = {}},
                         ""};
  EXPECT_FALSE(away.nodes());
  EXPECT_FALSE(away.take("node-2", kLostGpu, kTheMark));
}

}  // namespace
}  // namespace faultline
