#include "alerts/routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kMidnight{std::chrono::sys_days{std::chrono::year{2026} / 3 / 5}};

Finding finding(const std::string& cause = "gpu.off_bus", Severity severity = Severity::critical) {
  return {.id = "f1",
          .cause = cause_named(cause),
          .severity = severity,
          .subject = {.hosts = {"gpu-node-3"}}};
}

std::vector<Delivery> told(const Receiver& receiver, const Finding& what, Role role = Role::cause,
                           Timestamp now = kMidnight + hours{12}) {
  return route({receiver},
               {.finding = what, .job = "llama-7", .role = role, .incident = "i1", .now = now});
}

Receiver webhook() { return {.name = "hook", .hold = std::chrono::seconds{30}}; }

TEST(Routing, MatchesPatterns) {
  EXPECT_TRUE(matches("gpu.*", "gpu.off_bus"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*-node-*", "gpu-node-3"));
  EXPECT_TRUE(matches("gpu.off_bus", "gpu.off_bus"));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("a*b*c", "a-b-b"));
  EXPECT_FALSE(matches("gpu.*", "pcie.error"));
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*b", std::string(10000, 'a'))) << "in no long time";
  EXPECT_FALSE(matches("gpu", "gpu.off_bus"));
  EXPECT_FALSE(matches("*node", "gpu-node-3"));
}

TEST(Routing, TellsOfCausesAndNotOfWhatFollows) {
  EXPECT_EQ(told(webhook(), finding()).size(), 1U);
  EXPECT_TRUE(told(webhook(), finding(), Role::symptom).empty());
  EXPECT_TRUE(told(webhook(), finding(), Role::observation).empty());
  EXPECT_EQ(told(default_receiver(ReceiverType::alertmanager), finding(), Role::symptom).size(),
            1U);
}

TEST(Routing, GoesByClassSeverityJobAndHost) {
  Receiver receiver = webhook();
  EXPECT_TRUE(told(receiver, finding("gpu.off_bus", Severity::warning)).empty());
  receiver.classes = {"pcie.*", "gpu.*"};
  EXPECT_EQ(told(receiver, finding()).size(), 1U);
  EXPECT_TRUE(told(receiver, finding("host.down")).empty());
  receiver.jobs = {"prod-*"};
  EXPECT_TRUE(told(receiver, finding()).empty());
  receiver.jobs = {"llama-*"};
  receiver.hosts = {"gpu-node-*"};
  EXPECT_EQ(told(receiver, finding()).size(), 1U);
  receiver.hosts = {"cpu-*"};
  EXPECT_TRUE(told(receiver, finding()).empty());
}

TEST(Routing, HoldsAFindingBackForAWhile) {
  const Timestamp now = kMidnight + hours{12};
  EXPECT_EQ(told(webhook(), finding())[0].due, now + std::chrono::seconds{30});
}

TEST(Routing, WaitsForTheEndOfAQuietTimeUnlessItIsCritical) {
  Receiver receiver = webhook();
  receiver.hold = {};
  receiver.quiet = {{.from = hours{22}, .to = hours{6}}};
  const Finding error = finding("gpu.off_bus", Severity::error);
  const auto due = [&](Timestamp now, const Finding& what) {
    return told(receiver, what, Role::cause, now)[0].due;
  };
  EXPECT_EQ(due(kMidnight + hours{23}, error), kMidnight + hours{30});
  EXPECT_EQ(due(kMidnight + hours{1}, error), kMidnight + hours{6});
  EXPECT_EQ(due(kMidnight + hours{6}, error), kMidnight + hours{6});
  EXPECT_EQ(due(kMidnight + hours{12}, error), kMidnight + hours{12});
  EXPECT_EQ(due(kMidnight + hours{1}, finding()), kMidnight + hours{1});
}

TEST(Routing, GroupsAsItIsTold) {
  Receiver receiver = webhook();
  EXPECT_EQ(told(receiver, finding())[0].group, "i1");
  receiver.group_by = GroupBy::finding;
  EXPECT_EQ(told(receiver, finding())[0].group, "f1");
  receiver.group_by = GroupBy::job;
  EXPECT_EQ(told(receiver, finding())[0].group, "llama-7");
}

}  // namespace
}  // namespace faultline
