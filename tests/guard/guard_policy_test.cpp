// Which nodes are taken for a finding, and which never.
#include "guard/guard_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace faultline {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = GuardStep::Kind;

const Timestamp kNow = *parse_rfc3339("2026-11-29T08:00:00Z");

GuardFinding off_bus(const std::string& host, const std::string& id = "f1") {
  return {.id = id,
          .cause = "gpu.off_bus",
          .title = "GPU fell off the bus",
          .severity = "critical",
          .confidence = 0.99,
          .hosts = {host},
          .job = "llama",
          .incident = "i" + id,
          .role = "cause",
          .state = "open",
          .reason = {},
          .review = {},
          .part_of_job = true,
          .opened = kNow - 10min,
          .resolved = {},
          .last_seen = kNow - 11min};
}

std::vector<GuardNode> nodes_named_node(int count) {
  std::vector<GuardNode> nodes;
  for (int i = 1; i <= count; ++i)
    nodes.push_back({.name = "node-" + std::to_string(i), .also = {}});
  return nodes;
}

GuardNode taken_node(const std::string& name, const GuardFinding& finding, Timestamp time) {
  return {.name = name,
          .also = {},
          .schedulable = false,
          .taken = true,
          .memory = {.marks = {{finding.id, finding.incident, time}}}};
}

std::vector<std::string> taken_by(const std::vector<GuardStep>& steps) {
  std::vector<std::string> nodes;
  for (const GuardStep& step : steps)
    if (step.kind == Kind::take) nodes.push_back(step.node);
  return nodes;
}

using Nodes = std::vector<std::string>;

TEST(GuardPolicy, TakesTheNodeThatADiagnosisBlames) {
  const auto steps = plan_guard({off_bus("node-2")}, nodes_named_node(4), {}, kNow);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, Kind::take);
  EXPECT_EQ(steps[0].node, "node-2");
}

TEST(GuardPolicy, LeavesEveryNodeAloneThatIsNotBlamedForCertain) {
  struct Case {
    const char* why;
    std::function<void(GuardFinding&)> change;
  };
  const Case cases[] = {
      {"a symptom", [](GuardFinding& f) { f.role = "symptom"; }},
      {"an observation", [](GuardFinding& f) { f.role = "observation"; }},
      {"a rank that merely waits", [](GuardFinding& f) { f.cause = "collective.rank_behind"; }},
      {"a host that is silent", [](GuardFinding& f) { f.cause = "host.down"; }},
      {"a link, whose other end may be to blame",
       [](GuardFinding& f) { f.cause = "network.link_down"; }},
      {"a fault that a program caused",
       [](GuardFinding& f) { f.cause = "software.gpu_memory_fault"; }},
      {"not sure enough", [](GuardFinding& f) { f.confidence = 0.89; }},
      {"a warning", [](GuardFinding& f) { f.severity = "warning"; }},
      {"no rank of the job is there", [](GuardFinding& f) { f.part_of_job = false; }},
      {"reviewed as wrong", [](GuardFinding& f) { f.review = "wrong"; }},
      {"reviewed as closed", [](GuardFinding& f) { f.review = "closed"; }},
      {"over", [](GuardFinding& f) { f.state = "resolved"; }},
      {"two hosts", [](GuardFinding& f) { f.hosts = {"node-1", "node-2"}; }},
      {"no host", [](GuardFinding& f) { f.hosts.clear(); }},
      {"too fresh", [](GuardFinding& f) { f.opened = kNow - 1min; }},
      {"not known when it was seen", [](GuardFinding& f) { f.last_seen.reset(); }},
      {"in a log of last quarter", [](GuardFinding& f) { f.last_seen = kNow - 25h; }},
      {"in a log of the future", [](GuardFinding& f) { f.last_seen = kNow + 25h; }},
      {"long ago in any zone",
       [](GuardFinding& f) {
         f.zone_assumed = true;
         f.last_seen = kNow - 39h;
       }},
      {"no incident", [](GuardFinding& f) { f.incident.clear(); }},
      {"confidence is no number",
       [](GuardFinding& f) { f.confidence = std::numeric_limits<double>::quiet_NaN(); }},
      {"a host that is no node", [](GuardFinding& f) { f.hosts = {"pod-xyz"}; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    GuardFinding finding = off_bus("node-2");
    c.change(finding);
    EXPECT_EQ(taken_by(plan_guard({finding}, nodes_named_node(4), {}, kNow)), Nodes{});
  }
}

TEST(GuardPolicy, AllowsForTheZoneThatAStampDoesNotName) {
  GuardFinding finding = off_bus("node-2");
  finding.zone_assumed = true;
  for (const auto off : {-37h, 37h}) {
    finding.last_seen = kNow + off;
    EXPECT_EQ(taken_by(plan_guard({finding}, nodes_named_node(4), {}, kNow)), Nodes{"node-2"});
  }
}

TEST(GuardPolicy, SaysWhyAHardwareFindingTakesNoNode) {
  GuardFinding finding = off_bus("node-2");
  finding.confidence = 0.78;
  const auto steps = plan_guard({finding}, nodes_named_node(4), {}, kNow);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].why, "it is 78 % sure, and 90 % are needed");
}

TEST(GuardPolicy, TakesOneNodeForAnIncident) {
  GuardFinding first = off_bus("node-1", "f1");
  GuardFinding second = off_bus("node-2", "f2");
  second.incident = first.incident;
  second.opened = first.opened + 1s;
  EXPECT_EQ(taken_by(plan_guard({second, first}, nodes_named_node(200), {}, kNow)),
            Nodes{"node-1"});
  // Nor later, when the first node is taken.
  auto nodes = nodes_named_node(200);
  nodes[0] = taken_node("node-1", first, kNow - 1min);
  EXPECT_EQ(taken_by(plan_guard({first, second}, nodes, {}, kNow)), Nodes{});
}

TEST(GuardPolicy, TakesAtMostTwoPercentOfTheNodesADay) {
  std::vector<GuardFinding> findings;
  for (int i = 1; i <= 9; ++i)
    findings.push_back(off_bus("node-" + std::to_string(i), "f" + std::to_string(i)));
  EXPECT_EQ(taken_by(plan_guard(findings, nodes_named_node(10), {}, kNow)).size(), 1U);
  EXPECT_EQ(taken_by(plan_guard(findings, nodes_named_node(149), {}, kNow)).size(), 2U);
  EXPECT_EQ(taken_by(plan_guard(findings, nodes_named_node(150), {}, kNow)).size(), 3U);
  EXPECT_EQ(
      taken_by(plan_guard(findings, nodes_named_node(150), {.daily_percent = 0}, kNow)).size(), 1U);
}

TEST(GuardPolicy, CountsWhatWasTakenWithinADayEvenIfItWasGivenBack) {
  auto nodes = nodes_named_node(10);
  nodes[8].memory.marks = {{"f8", "if8", kNow - 23h}};
  nodes[8].memory.settled = kNow - 22h;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{});
  nodes[8].memory.marks[0].time = kNow - 25h;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{"node-1"});
}

TEST(GuardPolicy, LeavesHalfOfTheNodes) {
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes_named_node(1), {}, kNow)), Nodes{});
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes_named_node(2), {}, kNow)),
            Nodes{"node-1"});
  auto nodes = nodes_named_node(4);
  nodes[2].schedulable = false;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{"node-1"});
  nodes[3].schedulable = false;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{});
}

TEST(GuardPolicy, LeavesANodeThatIsOutOfSchedulingAlready) {
  auto nodes = nodes_named_node(4);
  nodes[0].schedulable = false;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{});
}

// The steps that a guard writes down, as text.
Nodes settled_by(const std::vector<GuardStep>& steps) {
  Nodes nodes;
  for (const GuardStep& step : steps)
    if (step.kind == Kind::settle) nodes.push_back(step.node + ": " + step.why);
  return nodes;
}

TEST(GuardPolicy, DoesNotTakeANodeThatWasOutOfSchedulingForWhatWasFoundBefore) {
  auto nodes = nodes_named_node(4);
  nodes[0].schedulable = false;
  const GuardFinding finding = off_bus("node-1");
  EXPECT_EQ(settled_by(plan_guard({finding}, nodes, {}, kNow)),
            Nodes{"node-1: it is out of scheduling"});
  // It is written down once.
  nodes[0].memory.settled = kNow;
  EXPECT_EQ(settled_by(plan_guard({finding}, nodes, {}, kNow)), Nodes{});
  // Repaired, and given back.
  nodes[0].schedulable = true;
  EXPECT_EQ(taken_by(plan_guard({finding}, nodes, {}, kNow + 5min)), Nodes{});
  GuardFinding fresh = off_bus("node-1", "f2");
  fresh.opened = kNow + 1h;
  EXPECT_EQ(taken_by(plan_guard({finding, fresh}, nodes, {}, kNow + 2h)), Nodes{"node-1"});
}

TEST(GuardPolicy, DoesNotTakeANodeInTurnForFindingsThatWereOpenWhenItWasGivenBack) {
  const GuardFinding first = off_bus("node-1", "f1");
  const GuardFinding second = off_bus("node-1", "f2");
  auto nodes = nodes_named_node(400);
  nodes[0].memory.marks = {{first.id, first.incident, kNow - 5min}};
  const auto steps = plan_guard({first, second}, nodes, {}, kNow);
  EXPECT_EQ(taken_by(steps), Nodes{});
  EXPECT_EQ(settled_by(steps), Nodes{"node-1: somebody gave it back"});
  nodes[0].memory.settled = kNow;
  const auto later = plan_guard({first, second}, nodes, {}, kNow + 1h);
  EXPECT_EQ(taken_by(later), Nodes{});
  EXPECT_EQ(settled_by(later), Nodes{});
}

TEST(GuardPolicy, KeepsWhatItNotedApartFromTheNodesThatItHolds) {
  const GuardFinding finding = off_bus("node-1");
  auto nodes = nodes_named_node(4);
  nodes[0] = taken_node("node-1", finding, kNow - 5min);
  EXPECT_EQ(settled_by(plan_guard({finding, off_bus("node-1", "f2")}, nodes, {}, kNow)), Nodes{});
}

TEST(GuardPolicy, DoesNotTakeANodeThatBootedSinceTheFaultWasSeen) {
  auto nodes = nodes_named_node(4);
  GuardFinding finding = off_bus("node-1");
  nodes[0].booted = *finding.last_seen + 1s;
  EXPECT_EQ(taken_by(plan_guard({finding}, nodes, {}, kNow)), Nodes{});
  nodes[0].booted = *finding.last_seen - 1h;
  EXPECT_EQ(taken_by(plan_guard({finding}, nodes, {}, kNow)), Nodes{"node-1"});
  // It may have been seen before, in the zone of the stamp.
  finding.zone_assumed = true;
  EXPECT_EQ(taken_by(plan_guard({finding}, nodes, {}, kNow)), Nodes{});
}

TEST(GuardPolicy, CountsOnlyNodesWithGpusIfAnyHaveThem) {
  auto nodes = nodes_named_node(1008);
  for (std::size_t i = 0; i < 8; ++i) nodes[i].has_gpus = true;
  std::vector<GuardFinding> findings;
  for (int i = 1; i <= 9; ++i)
    findings.push_back(off_bus("node-" + std::to_string(i), "f" + std::to_string(i)));
  EXPECT_EQ(taken_by(plan_guard(findings, nodes, {}, kNow)), Nodes{"node-1"});
  for (std::size_t i = 1; i < 5; ++i) nodes[i].schedulable = false;
  EXPECT_EQ(taken_by(plan_guard(findings, nodes, {}, kNow)), Nodes{});
  // One that has none is never taken.
  EXPECT_EQ(taken_by(plan_guard({findings[8]}, nodes, {}, kNow)), Nodes{});
}

TEST(GuardPolicy, CountsNoNodeThatServesTheClusterOrThatOthersAvoid) {
  auto nodes = nodes_named_node(3);
  nodes[0].is_never_taken = true;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{});
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-2")}, nodes, {}, kNow)), Nodes{"node-2"});
  nodes[2].is_avoided = true;
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-2")}, nodes, {}, kNow)), Nodes{});
}

TEST(GuardPolicy, TakesAtMostThreeNodesADayUnlessToldOtherwise) {
  std::vector<GuardFinding> findings;
  for (int i = 1; i <= 9; ++i)
    findings.push_back(off_bus("node-" + std::to_string(i), "f" + std::to_string(i)));
  EXPECT_EQ(taken_by(plan_guard(findings, nodes_named_node(1000), {}, kNow)).size(), 3U);
  EXPECT_EQ(taken_by(plan_guard(findings, nodes_named_node(1000), {.daily_most = 5}, kNow)).size(),
            5U);
}

TEST(GuardPolicy, TakesANodeOnceForAFinding) {
  auto nodes = nodes_named_node(400);
  nodes[0].memory = {.marks = {{"f1", "if1", kNow - 2h}}, .settled = kNow - 1h};
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1")}, nodes, {}, kNow)), Nodes{});
  EXPECT_EQ(taken_by(plan_guard({off_bus("node-1", "f2")}, nodes, {}, kNow)), Nodes{"node-1"});
}

TEST(GuardPolicy, GivesANodeBackOnlyIfItsFindingSaysThatItIsSound) {
  struct Case {
    const char* state;
    const char* reason;
    const char* review;
    std::chrono::minutes ago;
    bool back;
  };
  const Case cases[] = {
      {"open", "", "", 0min, false},
      {"open", "", "acknowledged", 0min, false},
      {"resolved", "not_seen", "", 10min, true},
      {"resolved", "not_seen", "", 1min, false},  // it may come back
      {"resolved", "counter_stopped", "", 10min, true},
      {"resolved", "wrong", "wrong", 0min, true},
      {"resolved", "closed", "closed", 0min, true},
      {"resolved", "job_ended", "", 99min, false},
      {"resolved", "new_attempt", "", 99min, false},
      {"resolved", "job_ended", "closed", 99min, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.state) + " " + c.reason + " " + c.review);
    GuardFinding finding = off_bus("node-1");
    auto nodes = nodes_named_node(4);
    nodes[0] = taken_node("node-1", finding, kNow - 2h);
    finding.state = c.state;
    finding.reason = c.reason;
    finding.review = c.review;
    if (finding.state == "resolved") finding.resolved = kNow - c.ago;
    const auto steps = plan_guard({finding}, nodes, {}, kNow);
    ASSERT_EQ(steps.size(), c.back ? 1U : 0U);
    if (c.back) {
      EXPECT_EQ(steps[0].kind, Kind::give_back);
    }
  }
}

TEST(GuardPolicy, KeepsANodeThatAnotherFindingAccuses) {
  GuardFinding old = off_bus("node-1", "f1");
  auto nodes = nodes_named_node(4);
  nodes[0] = taken_node("node-1", old, kNow - 2h);
  old.state = "resolved";
  old.review = "wrong";
  EXPECT_TRUE(plan_guard({old, off_bus("node-1", "f2")}, nodes, {}, kNow).empty());
}

TEST(GuardPolicy, GivesANodeBackIfOnlyTheWithdrawnIncidentStillAccusesIt) {
  GuardFinding old = off_bus("node-1", "f1");
  GuardFinding rest = off_bus("node-1", "f2");
  rest.cause = "pcie.error";
  rest.incident = old.incident;
  auto nodes = nodes_named_node(4);
  nodes[0] = taken_node("node-1", old, kNow - 2h);
  old.state = "resolved";
  old.review = "wrong";
  const auto steps = plan_guard({old, rest}, nodes, {}, kNow);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, Kind::give_back);
  // If nobody withdrew it, the incident goes on with another cause.
  old.review = "";
  old.reason = "not_seen";
  old.resolved = kNow - 1h;
  EXPECT_TRUE(plan_guard({old, rest}, nodes, {}, kNow).empty());
}

TEST(GuardPolicy, KeepsANodeIfTheServerForgotWhy) {
  auto nodes = nodes_named_node(4);
  nodes[0] = taken_node("node-1", off_bus("node-1"), kNow - 2h);
  const auto steps = plan_guard({}, nodes, {}, kNow);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, Kind::leave);
}

TEST(GuardPolicy, FindsANodeByItsShortNameIfThereIsOnlyOne) {
  std::vector<GuardNode> nodes{{.name = "node-1.a.example", .also = {}},
                               {.name = "node-2.a.example", .also = {}},
                               {.name = "node-2.b.example", .also = {}},
                               {.name = "ip-10-0-0-4", .also = {"node-4"}}};
  EXPECT_EQ(node_called(nodes, "node-1"), &nodes[0]);
  EXPECT_EQ(node_called(nodes, "node-2"), nullptr);
  EXPECT_EQ(node_called(nodes, "node-2.b.example"), &nodes[2]);
  EXPECT_EQ(node_called(nodes, "node-4"), &nodes[3]);
  EXPECT_EQ(node_called(nodes, "node-5"), nullptr);
}

TEST(GuardPolicy, TellsApartNamesWithDomainsAndAddresses) {
  const std::vector<GuardNode> nodes{{.name = "gpu-1.a.example"}, {.name = "10.0.0.5"}};
  EXPECT_EQ(node_called(nodes, "gpu-1.b.example"), nullptr);
  EXPECT_EQ(node_called(nodes, "gpu-1.a.example"), &nodes[0]);
  EXPECT_EQ(node_called(nodes, "gpu-1"), &nodes[0]);
  EXPECT_EQ(node_called(nodes, "10.0.0.5"), &nodes[1]);
  for (const char* other : {"10.7.7.7", "10", "10.0.0.6", "fe80::1"})
    EXPECT_EQ(node_called(nodes, other), nullptr) << other;
}

TEST(GuardPolicy, PlansTheSameWhateverTheOrderOfWhatItSees) {
  std::vector<GuardFinding> findings{off_bus("node-1", "f1"), off_bus("node-2", "f2"),
                                     off_bus("node-3", "f3")};
  auto nodes = nodes_named_node(10);
  const Nodes taken = taken_by(plan_guard(findings, nodes, {}, kNow));
  std::ranges::reverse(findings);
  std::ranges::reverse(nodes);
  EXPECT_EQ(taken_by(plan_guard(findings, nodes, {}, kNow)), taken);
}

}  // namespace
}  // namespace faultline
