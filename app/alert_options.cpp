#include "app/alert_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/describe/enum_from_string.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "alerts/url.h"
#include "model/duration.h"
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
  return text.empty() || parse_duration(text) ? "" : "must be a duration such as 0s, 30s or 5m";
}

// The keys of one table, read one after the other.
class Table {
 public:
  Table(const ConfigTable& table, std::size_t number) : table_(table) {
    name_ = table.contains("name") ? fmt::format("receiver \"{}\"", one("name"))
                                   : fmt::format("receiver {}", number);
  }

  [[noreturn]] void fail(std::string_view key, std::string_view why) const {
    throw std::runtime_error(fmt::format("{}: {} {}", name_, key, why));
  }

  bool has(const std::string& key) const { return table_.contains(key); }

  const Values& all(const std::string& key) {
    known_.insert(key);
    static const Values kNone;
    const auto found = table_.find(key);
    return found == table_.end() ? kNone : found->second;
  }

  std::string one(const std::string& key) {
    const Values& values = all(key);
    if (values.size() > 1) fail(key, "takes one value");
    return values.empty() ? std::string() : values.front();
  }

  void read(const std::string& key, bool& value) {
    const std::string text = one(key);
    if (text.empty()) return;
    if (text != "true" && text != "false") fail(key, "must be true or false");
    value = text == "true";
  }

  void read(const std::string& key, std::chrono::milliseconds& value) {
    const std::string text = one(key);
    if (text.empty()) return;
    const auto duration = parse_duration(text);
    if (!duration) fail(key, "must be a duration such as 0s, 30s or 5m");
    value = *duration;
  }

  void read(const std::string& key, double& value) {
    const std::string text = one(key);
    if (text.empty()) return;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= 1))
      fail(key, "must be a number from 0 to 1");
  }

  template <class Enum>
    requires std::is_enum_v<Enum>
  void read(const std::string& key, Enum& value) {
    const std::string text = one(key);
    if (text.empty() || boost::describe::enum_from_string(text.c_str(), value)) return;
    Values words;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
        [&](auto enumerator) { words.emplace_back(enumerator.name); });
    fail(key, fmt::format("must be one of {}, not \"{}\"", fmt::join(words, ", "), text));
  }

  // The first line of a file: secrets have no place in a file that many may read.
  std::string secret(const std::string& key) {
    const std::string path = one(key);
    if (path.empty()) return {};
    std::ifstream in(path);
    std::string text;
    if (!in || !std::getline(in, text)) fail(key, fmt::format("{}: cannot be read", path));
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
    if (text.empty()) fail(key, fmt::format("{}: its first line is empty", path));
    return text;
  }

  // What nobody has asked for is a mistake.
  void refuse_others() const {
    for (const auto& [key, values] : table_)
      if (!known_.contains(key))
        fail(key, fmt::format("is not known; the keys are {}", fmt::join(known_, ", ")));
  }

 private:
  const ConfigTable& table_;
  std::string name_;
  std::set<std::string> known_;
};

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

void read_routes(Table& table, Receiver& receiver) {
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

void read_ways(Table& table, Receiver& receiver) {
  receiver.ca_file = table.one("ca_file");
  if (!receiver.ca_file.empty() && !std::ifstream(receiver.ca_file))
    table.fail("ca_file", fmt::format("{}: cannot be read", receiver.ca_file));
  receiver.bearer = table.secret("bearer_file");
  receiver.secret = table.secret("secret_file");
  receiver.routing_key = table.secret("routing_key_file");
  receiver.command = table.all("command");
  table.read("allow_private", receiver.allow_private);
  table.read("timeout", receiver.timeout);
  table.read("retry_max", receiver.retry_max);
  table.read("resend", receiver.resend);
}

Values urls_of(Table& table, const Receiver& receiver) {
  Values urls = table.all("url");
  for (const std::string& url : table.all("urls")) urls.push_back(url);
  if (const std::string secret = table.secret("url_file"); !secret.empty()) urls.push_back(secret);
  if (urls.empty() && !receiver.url.empty()) urls.push_back(receiver.url);
  for (const std::string& url : urls)
    if (const std::string wrong = check_url(url); !wrong.empty()) table.fail("url", wrong);
  return urls;
}

// What was found before Faultline was told to tell it is on nobody's mind.
constexpr std::chrono::hours kOldNews{1};

Receiver receiver_of(ReceiverType type) {
  Receiver receiver = default_receiver(type);
  receiver.min_confidence = limits::least_to_blame;
  receiver.not_before = utc_now() - kOldNews;
  return receiver;
}

std::vector<Receiver> receivers_of(const ConfigTable& from, std::size_t number,
                                   std::chrono::milliseconds hold) {
  Table table(from, number);
  ReceiverType type = ReceiverType::webhook;
  if (!table.has("type")) table.fail("type", "is missing");
  table.read("type", type);
  Receiver receiver = receiver_of(type);
  receiver.hold = hold;
  receiver.name = table.one("name");
  if (receiver.name.empty()) table.fail("name", "is missing");
  read_routes(table, receiver);
  read_ways(table, receiver);
  const Values urls = urls_of(table, receiver);
  table.refuse_others();
  if (receiver.resend < std::chrono::milliseconds{100}) table.fail("resend", "is too short");
  if (type == ReceiverType::pagerduty && receiver.routing_key.empty())
    table.fail("routing_key_file", "is missing");
  if (type == ReceiverType::command) {
    if (receiver.command.empty()) table.fail("command", "is missing");
    return {receiver};
  }
  if (urls.empty()) table.fail("url", "is missing");
  if (urls.size() > 1 && type != ReceiverType::alertmanager)
    table.fail("urls", "are for the replicas of an Alertmanager");
  std::vector<Receiver> receivers;
  for (const std::string& url : urls) {
    Receiver& replica = receivers.emplace_back(receiver);
    replica.url = url;
    // Each replica is told for itself, and may be down by itself.
    if (urls.size() > 1) replica.name += " " + url;
  }
  return receivers;
}

Receiver of_flag(ReceiverType type, const std::string& url, std::chrono::milliseconds hold) {
  Receiver receiver = receiver_of(type);
  receiver.name = url;
  receiver.url = url;
  receiver.hold = hold;
  // Whoever typed the address meant it.
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
      "Tell this Alertmanager of findings; name each replica");
  add("--webhook", options.webhooks, check_url, "URL",
      "Send findings to this address, in the form of Alertmanager's webhooks");
  add("--alert-hold", options.hold, check_hold, "TIME",
      "Tell of a finding when it has stood for this long")
      ->capture_default_str();
  add("--alert-keep", options.keep, check_hold, "TIME",
      "Let an alert fire for this long after its finding was last seen; by default a minute longer "
      "than --stall-after");
  add(
      "--external-url", options.external_url,
      [](const std::string& text) { return text.empty() ? text : check_url(text); }, "URL",
      "The address under which people reach this service, for links in alerts; by default where it "
      "listens");
}

std::string external_url(const AlertOptions& options, const std::string& own) {
  std::string url = options.external_url.empty() ? own : options.external_url;
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::vector<Receiver> receivers_of(const AlertOptions& options, const ConfigTables& tables) {
  const std::chrono::milliseconds hold =
      parse_duration(options.hold).value_or(std::chrono::milliseconds{0});
  std::vector<Receiver> receivers;
  receivers.reserve(options.alertmanagers.size() + options.webhooks.size());
  for (const std::string& url : options.alertmanagers)
    receivers.push_back(of_flag(ReceiverType::alertmanager, url, hold));
  for (const std::string& url : options.webhooks)
    receivers.push_back(of_flag(ReceiverType::webhook, url, hold));
  for (std::size_t i = 0; i < tables.size(); ++i)
    for (Receiver& receiver : receivers_of(tables[i], i + 1, hold))
      receivers.push_back(std::move(receiver));
  std::set<std::string_view> names;
  for (const Receiver& receiver : receivers)
    if (!names.insert(receiver.name).second)
      throw std::runtime_error(fmt::format(
          "receiver \"{}\" is there twice; each needs a name of its own", receiver.name));
  return receivers;
}

std::string receivers_config(const ConfigTables& tables) {
  std::string text;
  for (const ConfigTable& table : tables) {
    text += "\n[[receiver]]\n";
    for (const auto& [key, values] : table)
      text += fmt::format("{} = {}\n", key, toml_value(values));
  }
  return text;
}

}  // namespace faultline
