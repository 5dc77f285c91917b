#include "alerts/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "alerts/http_post.h"
#include "model/handover.h"

namespace faultline {
namespace {

using testing::HasSubstr;

constexpr Timestamp kNow{std::chrono::sys_days{std::chrono::year{2026} / 3 / 5} +
                         std::chrono::hours{3}};

OutboxRow row(const std::string& id, bool firing, Role role = Role::cause) {
  OutboxRow row{.id = 1, .firing = firing, .severity = Severity::critical, .role = role};
  row.incident = "ifa";
  row.began = kNow - std::chrono::minutes{5};
  row.since = kNow;
  row.finding = {
      .finding =
          {.id = id,
           .cause = Cause::gpu_off_bus,
           .title = "GPU 0000:3b:00.0 on gpu-node-3 fell off the bus (Xid 79)",
           .severity = Severity::critical,
           .confidence = 0.98,
           .subject = {.hosts = {"gpu-node-3"}, .ranks = {27}, .gpus = {"gpu-node-3/0000:3b:00.0"}},
           .evidence = {{.source = "dmesg.txt", .line = 812, .text = "NVRM: Xid 79 <b>&\x01"}},
           .actions = {{.what = "Drain the node", .command = "nvidia-smi"}}},
      .job = "llama 7/b",
      .attempt = 2,
      .role = role,
      .incident = "ifa"};
  return row;
}

const std::string kUrl = "https://faultline.example";

std::vector<Alert> alerts(const std::vector<OutboxRow>& rows) {
  return alerts_of(rows, {.url = kUrl});
}

Occasion occasion() { return {.group = "ifa", .external_url = kUrl, .now = kNow}; }

TEST(Alerts, HaveTheLabelsThatRoutesGoBy) {
  const Alert alert = alert_of(row("fa", true), {.url = kUrl});
  const std::map<std::string, std::string> expected{
      {"alertname", "gpu.off_bus"}, {"severity", "critical"}, {"job", "llama 7/b"},
      {"host", "gpu-node-3"},       {"gpu", "0000:3b:00.0"},  {"rank", "27"},
      {"incident", "ifa"},          {"role", "cause"},        {"finding", "fa"}};
  EXPECT_EQ(alert.labels, expected);
  EXPECT_EQ(alert.generator_url, kUrl + "/findings/fa");
  EXPECT_EQ(alert.annotations.at("dashboard"), kUrl + "/jobs/llama%207%2Fb");
  EXPECT_THAT(alert.annotations.at("acknowledge"),
              HasSubstr(kUrl + "/api/v1/findings/fa/review?verdict=acknowledged"));
  EXPECT_THAT(alert.annotations.at("runbook_url"),
              HasSubstr("/api/v1/jobs/llama%207%2Fb/diagnosis?format=text&attempt=2"));
  EXPECT_THAT(alert.annotations.at("description"), HasSubstr("Drain the node [nvidia-smi]"));
  EXPECT_THAT(alert.annotations.at("description"), HasSubstr("dmesg.txt:812: NVRM: Xid 79"));
}

TEST(Alerts, NameManyPartsInAnAnnotationAndNoLabel) {
  OutboxRow many = row("fa", true);
  many.finding.finding.subject.hosts = {"a", "b"};
  for (int rank = 0; rank < 1024; ++rank) many.finding.finding.subject.ranks.push_back(rank);
  const Alert alert = alert_of(many, {.url = kUrl});
  EXPECT_FALSE(alert.labels.contains("host"));
  EXPECT_FALSE(alert.labels.contains("rank"));
  EXPECT_EQ(alert.annotations.at("hosts"), "a, b");
  EXPECT_THAT(alert.annotations.at("ranks"), HasSubstr("and 1009 more"));
}

TEST(Alerts, CutASummaryBetweenCharacters) {
  EXPECT_EQ(cut("short", 10), "short");
  const std::string summary = cut(std::string(118, 'x') + "äöü", 120);
  EXPECT_LE(summary.size(), 120U);
  EXPECT_TRUE(summary.ends_with("x…")) << summary;
}

TEST(Messages, TellAlertmanagerWhenWhatFiresIsOverUnlessToldAgain) {
  const auto list = boost::json::parse(alertmanager_message(
      alerts({row("fa", true), row("fb", false)}), kNow + std::chrono::minutes{4}));
  ASSERT_EQ(list.as_array().size(), 2U);
  EXPECT_EQ(list.at(0).at("startsAt"), "2026-03-05T02:55:00Z");
  EXPECT_EQ(list.at(0).at("endsAt"), "2026-03-05T03:04:00Z");
  EXPECT_EQ(list.at(1).at("endsAt"), "2026-03-05T03:00:00Z");
}

TEST(Messages, HaveTheFormOfAlertmanagersWebhooks) {
  const auto message = boost::json::parse(
      webhook_message({.name = "hook"}, alerts({row("fb", false), row("fa", true)}), occasion()));
  EXPECT_EQ(message.at("version"), "4");
  EXPECT_EQ(message.at("status"), "firing");
  EXPECT_EQ(message.at("receiver"), "hook");
  EXPECT_EQ(message.at("truncatedAlerts").to_number<int>(), 0);
  EXPECT_EQ(message.at("groupLabels").at("incident"), "ifa");
  EXPECT_EQ(message.at("commonLabels").at("job"), "llama 7/b");
  EXPECT_FALSE(message.at("commonLabels").as_object().contains("finding"));
  EXPECT_EQ(message.at("alerts").at(0).at("status"), "firing") << "what fires comes first";
  EXPECT_EQ(message.at("alerts").at(0).at("fingerprint"), "fa");
  EXPECT_EQ(message.at("alerts").at(1).at("endsAt"), "2026-03-05T03:00:00Z");
}

TEST(Messages, TriggerAndResolveOneIncidentOfPagerDuty) {
  Receiver receiver{.routing_key = "0123456789abcdef0123456789abcdef"};
  const auto trigger =
      boost::json::parse(pagerduty_message(receiver, alerts({row("fa", true)}), occasion()));
  EXPECT_EQ(trigger.at("event_action"), "trigger");
  EXPECT_EQ(std::string(trigger.at("routing_key").as_string()), receiver.routing_key);
  EXPECT_EQ(trigger.at("payload").at("severity"), "critical");
  EXPECT_EQ(trigger.at("payload").at("source"), "gpu-node-3");
  EXPECT_EQ(trigger.at("payload").at("component"), "0000:3b:00.0");
  EXPECT_EQ(trigger.at("payload").at("class"), "gpu.off_bus");
  const auto resolve =
      boost::json::parse(pagerduty_message(receiver, alerts({row("fa", false)}), occasion()));
  EXPECT_EQ(resolve.at("event_action"), "resolve");
  EXPECT_EQ(resolve.at("dedup_key"), trigger.at("dedup_key"));
}

TEST(Messages, StayBelowWhatPagerDutyTakes) {
  std::vector<OutboxRow> rows(1000, row("fa", true));
  for (OutboxRow& one : rows) one.finding.finding.title = std::string(5000, 'x');
  EXPECT_LT(pagerduty_message({}, alerts(rows), occasion()).size(), 512U << 10);
}

TEST(Messages, LeaveNoMarkupOfALogsToSlack) {
  const auto message = boost::json::parse(slack_message(alerts({row("fa", true)})));
  const std::string text(message.at("text").as_string());
  EXPECT_THAT(text, HasSubstr("&lt;b&gt;&amp;"));
  EXPECT_THAT(text, HasSubstr("<https://faultline.example/findings/fa|GPU 0000:3b:00.0"));
}

TEST(Messages, AreSigned) {
  // RFC 4231 has no timestamps; openssl dgst -sha256 -hmac key agrees with this one.
  EXPECT_EQ(signature_of("key", "body", Timestamp{std::chrono::seconds{1700000000}}),
            "t=1700000000,v1=47b6ce0fca59474308e2921c247cb2493dce6b8101d90ac05bd0c6a37d0e046e");
}

TEST(Receivers, KnowNetworksThatAreNotPublic) {
  for (const char* address :
       {"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "255.255.255.255", "224.0.0.1", "::1", "fe80::1", "fd00::1", "ff02::1",
        "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::"})
    EXPECT_TRUE(is_private(boost::asio::ip::make_address(address))) << address;
  for (const char* address : {"8.8.8.8", "172.32.0.1", "192.167.1.1", "100.128.0.1", "11.0.0.1",
                              "2606:4700::1", "::ffff:8.8.8.8"})
    EXPECT_FALSE(is_private(boost::asio::ip::make_address(address))) << address;
}

TEST(Receivers, SayByTheirStatusWhatIsToBecomeOfAMessage) {
  EXPECT_EQ(attempt_of(202, "", "").outcome, DeliveryOutcome::accepted);
  for (const unsigned status : {400U, 413U, 422U})
    EXPECT_EQ(attempt_of(status, "", "").outcome, DeliveryOutcome::refused) << status;
  for (const unsigned status : {301U, 401U, 403U, 404U, 429U, 500U, 503U})
    EXPECT_EQ(attempt_of(status, "", "").outcome, DeliveryOutcome::unknown) << status;
  EXPECT_EQ(attempt_of(429, "30", "").retry_after, std::chrono::seconds{30});
  EXPECT_EQ(attempt_of(429, "999999999999", "").retry_after, std::chrono::hours{1});
  EXPECT_FALSE(attempt_of(429, "soon", "").retry_after);
}

TEST(Urls, AreReadOrRefused) {
  const auto url = parse_url("https://[::1]:8443/a?b=c#d");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->target, "/a?b=c");
  EXPECT_EQ(url->host_header(), "[::1]:8443");
  EXPECT_EQ(parse_url("http://example.org")->target, "/");
  EXPECT_EQ(parse_url("http://example.org")->host_header(), "example.org");
  for (const char* wrong : {"", "example.org", "ftp://x", "http://", "http://x:y", "http://a b",
                            "http://user:pass@host/", "http://[::1", "http://x/\r\nHost: y",
                            "http://=::1]:9093/", "http://[::1]x:80/", "http://::1/"})
    EXPECT_FALSE(parse_url(wrong)) << wrong;
}

}  // namespace
}  // namespace faultline
