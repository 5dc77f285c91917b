#include "app/alert_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "alerts/http_post.h"
#include "app/durations.h"
#include "app/manual/command_help.h"
#include "app/table_reader.h"
#include "client/authorities.h"
#include "client/url.h"
#include "rules/knowledge/limits.h"
#include "service/clock.h"

namespace faultline {
namespace {

using Values = std::vector<std::string>;

std::string check_url(const std::string& text) {
  const Result<Url> url = parse_url(text);
  return url ? "" : url.error().message;
}

std::string check_hold(const std::string& text) {
  return text.empty() ? "" : wrong_duration(text, {.zero = "at once"});
}

// 22:00-06:30
std::optional<QuietTime> quiet_time(std::string_view text) {
  const auto two = [&](std::size_t at) -> int {
    int number = -1;
    if (text.size() >= at + 2) std::from_chars(text.data() + at, text.data() + at + 2, number);
    return number;
  };
  if (text.size() != 11 || text[2] != ':' || text[5] != '-' || text[8] != ':') return std::nullopt;
  const int fields[] = {two(0), two(3), two(6), two(9)};
  for (int i = 0; i < 4; ++i)
    if (fields[i] < 0 || fields[i] > (i % 2 == 0 ? 24 : 59)) return std::nullopt;
  return QuietTime{.from = std::chrono::minutes{fields[0] * 60 + fields[1]},
                   .to = std::chrono::minutes{fields[2] * 60 + fields[3]}};
}

void read_routes(TableReader& table, Receiver& receiver) {
  receiver.classes = table.all("classes");
  receiver.jobs = table.all("jobs");
  receiver.hosts = table.all("hosts");
  table.read("min_severity", receiver.min_severity);
  table.read("min_confidence", receiver.min_confidence);
  table.read("symptoms", receiver.symptoms);
  table.read("send_resolved", receiver.send_resolved);
  table.read("hold", receiver.hold);
  table.read("group_by", receiver.group_by);
  table.read("group_wait", receiver.group_wait);
  table.read("group_interval", receiver.group_interval);
  table.read("quiet_below", receiver.quiet_below);
  for (const std::string& text : table.all("quiet")) {
    const auto time = quiet_time(text);
    if (!time) table.fail("quiet", "must be times of the day in UTC, such as \"22:00-06:00\"");
    receiver.quiet.push_back(*time);
  }
}

void read_ways(TableReader& table, Receiver& receiver) {
  receiver.ca_file = table.one("ca_file");
  if (!receiver.ca_file.empty())
    if (const std::string why = unfit_as_authorities(receiver.ca_file); !why.empty())
      table.fail("ca_file", fmt::format("{}: {}", receiver.ca_file, why));
  receiver.bearer = table.secret("bearer_file");
  receiver.secret = table.secret("secret_file");
  receiver.routing_key = table.secret("routing_key_file");
  receiver.command = table.all("command");
  table.read("allow_private", receiver.allow_private);
  table.read("timeout", receiver.timeout);
  table.read("retry_max", receiver.retry_max);
  table.read("resend", receiver.resend);
}

// Judges only the address in the URL; what a name resolves to is checked when something is sent.
bool is_surely_private(const std::string& url) {
  const auto parsed = parse_url(url);
  if (!parsed) return false;
  boost::system::error_code no_address;
  const auto address = boost::asio::ip::make_address(parsed->host, no_address);
  return no_address ? parsed->host == "localhost" : is_private(address);
}

Values urls_of(TableReader& table, const Receiver& receiver) {
  Values urls = table.all("url");
  for (const std::string& url : table.all("urls")) urls.push_back(url);
  if (const std::string secret = table.secret("url_file"); !secret.empty()) urls.push_back(secret);
  if (urls.empty() && !receiver.url.empty()) urls.push_back(receiver.url);
  for (const std::string& url : urls)
    if (const std::string wrong = check_url(url); !wrong.empty())
      table.fail("url", wrong);
    else if (!receiver.allow_private && is_surely_private(url))
      table.fail("url", fmt::format("{} is a private address; set allow_private = true to allow it",
                                    parse_url(url)->host));
  return urls;
}

// Nobody wants alerts for findings from long before the receiver was set up.
constexpr std::chrono::hours kOldNews{1};

Receiver receiver_of(ReceiverType type) {
  Receiver receiver = default_receiver(type);
  receiver.min_confidence = limits::least_to_blame;
  receiver.not_before = utc_now() - kOldNews;
  return receiver;
}

std::vector<Receiver> receivers_of(const ConfigTable& from, std::size_t number,
                                   std::chrono::milliseconds hold) {
  TableReader table(from, tables::kReceiver, "name", number);
  ReceiverType type = ReceiverType::webhook;
  if (!table.has("type"))
    table.fail("type", fmt::format("is missing; give one of {}", words_of<ReceiverType>()));
  table.read("type", type);
  Receiver receiver = receiver_of(type);
  receiver.hold = hold;
  receiver.name = table.one("name");
  if (receiver.name.empty())
    table.fail("name", "is missing; give it one, such as name = \"on-call\"");
  read_routes(table, receiver);
  read_ways(table, receiver);
  const Values urls = urls_of(table, receiver);
  table.refuse_others();
  if (receiver.resend < std::chrono::milliseconds{100})
    table.fail("resend", "must be a duration of 100ms or more");
  if (type == ReceiverType::pagerduty && receiver.routing_key.empty())
    table.fail("routing_key_file", "is missing; name the file with the integration key");
  if (type == ReceiverType::command) {
    if (receiver.command.empty())
      table.fail(
          "command",
          "is missing; give the program to run, such as command = [\"/usr/local/bin/page\"]");
    return {receiver};
  }
  if (urls.empty())
    table.fail("url",
               "is missing; say where to send, such as url = \"https://hooks.example.com/x\"");
  if (urls.size() > 1 && type != ReceiverType::alertmanager)
    table.fail("urls", "are only for the replicas of an Alertmanager; give one url");
  std::vector<Receiver> receivers;
  for (const std::string& url : urls) {
    Receiver& replica = receivers.emplace_back(receiver);
    replica.url = url;
    // Each replica gets its own messages, and may be down on its own.
    if (urls.size() > 1) replica.name += " " + name_of_url(url);
  }
  return receivers;
}

Receiver of_flag(ReceiverType type, const std::string& url, std::chrono::milliseconds hold) {
  Receiver receiver = receiver_of(type);
  receiver.name = name_of_url(url);
  receiver.url = url;
  receiver.hold = hold;
  // Somebody typed this address, so it is meant.
  receiver.allow_private = true;
  return receiver;
}

}  // namespace

void add_alert_options(CLI::App& command, AlertOptions& options) {
  const auto add = [&](const char* name, auto& value, auto check, const char* type,
                       const char* about) {
    return command.add_option(name, value, about)
        ->allow_extra_args(false)
        ->check(CLI::Validator(check, ""))
        ->type_name(type)
        ->group("Alerts");
  };
  add("--alertmanager", options.alertmanagers, check_url, "URL",
      "Send alerts to this Alertmanager; give each of its replicas");
  add("--webhook", options.webhooks, check_url, "URL",
      "Send alerts to this address as JSON, in the form of Alertmanager's webhooks");
  add("--alert-hold", options.hold, check_hold, "DURATION",
      "Send an alert only when its finding has been open for this long; 0: at once")
      ->capture_default_str();
  add("--alert-keep", options.keep, check_hold, "DURATION",
      "Keep an alert firing for this long after its finding was last seen, so that a finding that "
      "comes and goes is sent once; by default a minute longer than --stall-after");
  add(
      "--external-url", options.external_url,
      [](const std::string& text) { return text.empty() ? text : check_url(text); }, "URL",
      "The address under which people reach this service, for the links in alerts; by default the "
      "one of --listen");
}

std::string external_url(const AlertOptions& options, const std::string& own) {
  std::string url = options.external_url.empty() ? own : options.external_url;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::vector<Receiver> receivers_of(const AlertOptions& options, const ConfigTables& all) {
  const std::chrono::milliseconds hold =
      setting_duration(options.hold).value_or(std::chrono::milliseconds{0});
  std::vector<Receiver> receivers;
  receivers.reserve(options.alertmanagers.size() + options.webhooks.size());
  for (const std::string& url : options.alertmanagers)
    receivers.push_back(of_flag(ReceiverType::alertmanager, url, hold));
  for (const std::string& url : options.webhooks)
    receivers.push_back(of_flag(ReceiverType::webhook, url, hold));
  std::set<std::string> names;
  const auto twice = [&](const Receiver& receiver) -> std::string {
    if (names.insert(receiver.name).second) return {};
    return fmt::format("two receivers are named \"{}\"; give each its own name", receiver.name);
  };
  for (const Receiver& receiver : receivers)
    if (const std::string wrong = twice(receiver); !wrong.empty()) throw std::runtime_error(wrong);
  std::size_t number = 0;
  for (const ConfigTable& table : all) {
    if (table.name != tables::kReceiver) continue;
    for (Receiver& receiver : receivers_of(table, ++number, hold)) {
      if (const std::string wrong = twice(receiver); !wrong.empty())
        throw refusal_at(table.file, table.line, wrong);
      receivers.push_back(std::move(receiver));
    }
  }
  return receivers;
}

}  // namespace faultline
