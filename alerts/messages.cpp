#include "alerts/messages.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <boost/describe/enum_to_string.hpp>
#include <boost/json.hpp>

#include "model/handover.h"
#include "model/json.h"

namespace faultline {
namespace json = boost::json;
namespace {

// People read no more, and receivers accept no more in one message.
constexpr std::size_t kMostAlerts = 100;
constexpr std::size_t kMostSaid = 10;  // alerts in a chat

using Pairs = std::map<std::string, std::string>;

json::object object_of(const Pairs& pairs) {
  json::object object;
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

// The pairs that all alerts share.
Pairs common(std::span<const Alert> alerts, Pairs Alert::* pairs) {
  Pairs shared = alerts.empty() ? Pairs{} : alerts.front().*pairs;
  for (const Alert& alert : alerts)
    std::erase_if(shared, [&](const auto& pair) {
      const auto other = (alert.*pairs).find(pair.first);
      return other == (alert.*pairs).end() || other->second != pair.second;
    });
  return shared;
}

bool any_fires(std::span<const Alert> alerts) {
  return std::ranges::any_of(alerts, &Alert::firing);
}

// The end of a firing alert is not known.
constexpr std::string_view kNoEnd = "0001-01-01T00:00:00Z";

Severity worst(std::span<const Alert> alerts) {
  Severity worst = Severity::info;
  for (const Alert& alert : alerts) worst = std::max(worst, alert.severity);
  return worst;
}

std::string escaped_for_slack(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string of(const Pairs& pairs, const std::string& name) {
  const auto found = pairs.find(name);
  return found == pairs.end() ? std::string() : found->second;
}

}  // namespace

std::string alertmanager_message(std::span<const Alert> alerts, Timestamp expires) {
  json::array list;
  for (const Alert& alert : alerts)
    list.push_back({{"labels", object_of(alert.labels)},
                    {"annotations", object_of(alert.annotations)},
                    {"startsAt", to_rfc3339(alert.starts)},
                    {"endsAt", to_rfc3339(alert.firing ? expires : alert.ends)},
                    {"generatorURL", alert.generator_url}});
  return compact(list);
}

std::string webhook_message(const Receiver& receiver, std::span<const Alert> alerts,
                            const Occasion& occasion) {
  const std::size_t truncated = alerts.size() - std::min(alerts.size(), kMostAlerts);
  alerts = alerts.first(alerts.size() - truncated);
  json::array list;
  for (const Alert& alert : alerts)
    list.push_back({{"status", alert.firing ? "firing" : "resolved"},
                    {"labels", object_of(alert.labels)},
                    {"annotations", object_of(alert.annotations)},
                    {"startsAt", to_rfc3339(alert.starts)},
                    {"endsAt", alert.firing ? std::string(kNoEnd) : to_rfc3339(alert.ends)},
                    {"generatorURL", alert.generator_url},
                    {"fingerprint", of(alert.labels, "finding")}});
  const std::string grouped_by = boost::describe::enum_to_string(receiver.group_by, "");
  return compact(json::object{
      {"version", "4"},
      {"groupKey", fmt::format("{}:{{{}=\"{}\"}}", receiver.name, grouped_by, occasion.group)},
      {"truncatedAlerts", truncated},
      {"status", any_fires(alerts) ? "firing" : "resolved"},
      {"receiver", receiver.name},
      {"groupLabels", json::object{{grouped_by, occasion.group}}},
      {"commonLabels", object_of(common(alerts, &Alert::labels))},
      {"commonAnnotations", object_of(common(alerts, &Alert::annotations))},
      {"externalURL", occasion.external_url},
      {"alerts", std::move(list)}});
}

std::string pagerduty_message(const Receiver& receiver, std::span<const Alert> alerts,
                              const Occasion& occasion) {
  constexpr std::size_t kSummaryBytes = 1024;
  constexpr std::size_t kMostDetails = 20;  // an event has at most 512 KB
  constexpr std::size_t kMostKey = 255;
  const Alert& first = alerts.front();
  json::array details;
  for (const Alert& alert : alerts.first(std::min(alerts.size(), kMostDetails)))
    details.push_back({{"status", alert.firing ? "firing" : "resolved"},
                       {"labels", object_of(alert.labels)},
                       {"description", of(alert.annotations, "description")},
                       {"finding", alert.generator_url}});
  const std::string host = of(first.labels, "host");
  json::object payload{{"summary", cut_at_word(fmt::format("{}: {}", of(first.labels, "job"),
                                                           of(first.annotations, "summary")),
                                               kSummaryBytes)},
                       {"source", host.empty() ? of(first.labels, "job") : host},
                       {"severity", boost::describe::enum_to_string(worst(alerts), "")},
                       {"timestamp", to_rfc3339(first.starts)},
                       {"group", of(first.labels, "job")},
                       {"class", of(first.labels, "alertname")},
                       {"custom_details", json::object{{"alerts", std::move(details)}}}};
  for (const char* part : {"gpu", "nic"})
    if (const std::string value = of(first.labels, part); !value.empty())
      payload["component"] = value;
  return compact(json::object{{"routing_key", receiver.routing_key},
                              {"event_action", any_fires(alerts) ? "trigger" : "resolve"},
                              {"dedup_key", cut("faultline/" + occasion.group, kMostKey)},
                              {"client", "Faultline"},
                              {"client_url", first.generator_url},
                              {"links", json::array{{{"href", of(first.annotations, "runbook_url")},
                                                     {"text", "Diagnosis"}}}},
                              {"payload", std::move(payload)}});
}

std::string slack_message(std::span<const Alert> alerts) {
  std::string text;
  for (const Alert& alert : alerts.first(std::min(alerts.size(), kMostSaid))) {
    const auto said = [&](const char* name) {
      return escaped_for_slack(of(alert.annotations, name));
    };
    text += fmt::format("*{}* {} {}: <{}|{}>\n", alert.firing ? "FIRING" : "RESOLVED",
                        of(alert.labels, "severity"), escaped_for_slack(of(alert.labels, "job")),
                        alert.generator_url, said("summary"));
    if (alert.firing && &alert == &alerts.front()) text += said("description") + "\n";
  }
  if (alerts.size() > kMostSaid) text += fmt::format("and {} more\n", alerts.size() - kMostSaid);
  return compact(json::object{{"text", std::move(text)}});
}

std::string signature_of(std::string_view secret, std::string_view body, Timestamp now) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::string text = fmt::format("{}.{}", seconds, body);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return fmt::format("t={},v1={}", seconds, hex);
}

}  // namespace faultline
