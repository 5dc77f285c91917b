#include "alerts/send.h"

#include "alerts/http_post.h"
#include "alerts/run_command.h"

namespace faultline {
namespace asio = boost::asio;
namespace {

// Like Prometheus: a firing alert is over if it was not sent again four times.
constexpr int kResendsUntilOver = 4;

std::string message_of(const Receiver& receiver, const std::vector<Alert>& alerts,
                       const Occasion& occasion) {
  switch (receiver.type) {
    case ReceiverType::alertmanager:
      return alertmanager_message(alerts, occasion.now + kResendsUntilOver * receiver.resend);
    case ReceiverType::pagerduty:
      return pagerduty_message(receiver, alerts, occasion);
    case ReceiverType::slack:
      return slack_message(alerts);
    case ReceiverType::webhook:
    case ReceiverType::command:
      return webhook_message(receiver, alerts, occasion);
  }
  return {};
}

// .../api/v2/alerts of an Alertmanager. The configured URL may have a path before it.
Url alerts_url(Url url) {
  constexpr std::string_view kPath = "/api/v2/alerts";
  if (url.target.ends_with(kPath)) return url;
  if (url.target.ends_with('/')) url.target.pop_back();
  url.target += kPath;
  return url;
}

HttpPost post_of(const Receiver& receiver, const Url& url, std::string message,
                 const Occasion& occasion, const std::string& delivery) {
  HttpPost post{
      .url = receiver.type == ReceiverType::alertmanager ? alerts_url(url) : url,
      .headers = {{"Content-Type", "application/json"}, {"X-Faultline-Delivery", delivery}},
      .body = std::move(message),
      .ca_file = receiver.ca_file,
      .allow_private = receiver.allow_private,
      .timeout = receiver.timeout};
  if (!receiver.bearer.empty())
    post.headers.emplace_back("Authorization", "Bearer " + receiver.bearer);
  if (!receiver.secret.empty())
    post.headers.emplace_back("X-Faultline-Signature",
                              signature_of(receiver.secret, post.body, occasion.now));
  return post;
}

}  // namespace

asio::awaitable<Attempt> send_alerts(const Receiver& receiver, const std::vector<Alert>& alerts,
                                     const Occasion& occasion, const std::string& delivery) {
  std::string message = message_of(receiver, alerts, occasion);
  if (receiver.type == ReceiverType::command) {
    const std::vector<std::pair<std::string, std::string>> environment{
        {"FAULTLINE_RECEIVER", receiver.name},
        {"FAULTLINE_STATUS", alerts.front().firing ? "firing" : "resolved"},
        {"FAULTLINE_GROUP", occasion.group},
        {"FAULTLINE_DELIVERY", delivery}};
    co_return co_await run_command(receiver.command, message, environment, receiver.timeout);
  }
  const Result<Url> url = parse_url(receiver.url);
  if (!url) co_return Attempt{DeliveryOutcome::unsent, "url " + url.error().message, {}};
  const HttpPost post = post_of(receiver, *url, std::move(message), occasion, delivery);
  co_return co_await http_post(post);
}

std::vector<OutboxRow> sample_rows(Timestamp now) {
  OutboxRow row{.severity = Severity::info, .incident = "itest", .since = now, .began = now};
  row.finding = {.finding = {.id = "ftest",
                             .cause = Cause::gpu_off_bus,
                             .title = "A test of this receiver: no job has a fault",
                             .severity = Severity::info,
                             .confidence = 1,
                             .subject = {.hosts = {"test-host"},
                                         .ranks = {0},
                                         .gpus = {"test-host/0000:3b:00.0"}},
                             .first_seen = now,
                             .last_seen = now},
                 .job = "faultline-test",
                 .opened = now,
                 .role = Role::cause,
                 .incident = "itest"};
  return {row};
}

}  // namespace faultline
