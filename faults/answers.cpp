#include "faults/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <span>
#include <string_view>

#include "faults/client.h"

namespace faultline::faults {
namespace {

namespace json = boost::json;

constexpr std::string_view kOfAsking[] = {"as_of"};
constexpr std::string_view kOfArrival[] = {"as_of", "last_received", "last_activity", "opened"};

void forget_members(json::value& value, std::span<const std::string_view> names) {
  if (json::array* array = value.if_array())
    for (json::value& element : *array) forget_members(element, names);
  if (json::object* object = value.if_object()) {
    for (const std::string_view name : names) object->erase(name);
    for (auto& member : *object) forget_members(member.value(), names);
  }
}

std::string normal(const Answer& answer, Forget forget) {
  boost::system::error_code error;
  json::value value = json::parse(answer.body, error);
  if (error) return fmt::format("{} {}", answer.status, answer.body);
  if (forget == Forget::asking)
    forget_members(value, kOfAsking);
  else
    forget_members(value, kOfArrival);
  return fmt::format("{} {}", answer.status, json::serialize(value));
}

std::string_view around(std::string_view text, std::size_t at) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kShown = 160;
  return text.substr(at > kBefore ? at - kBefore : 0, kShown);
}

}  // namespace

Answers answers_of(int port, const std::vector<std::string>& jobs, Forget forget) {
  Client client(port);
  Answers answers;
  const auto ask = [&](const std::string& path) {
    answers[path] = normal(client.get(path), forget);
  };
  for (const std::string& job : jobs) {
    ask(fmt::format("/api/v1/sources?job={}&limit=1000", job));
    ask(fmt::format("/api/v1/jobs/{}", job));
    ask(fmt::format("/api/v1/jobs/{}/ranks", job));
    ask(fmt::format("/api/v1/jobs/{}/diagnosis", job));
  }
  // Findings hold the times at which they were seen, and hosts list findings.
  if (forget == Forget::arrival) return answers;
  ask("/api/v1/jobs");
  ask("/api/v1/findings");
  ask("/api/v1/hosts");
  ask("/api/v1/hosts/n1?limit=1000");
  return answers;
}

std::vector<std::string> differences(const Answers& expected, const Answers& found) {
  std::vector<std::string> all;
  for (const auto& [path, text] : expected) {
    const auto other = found.find(path);
    const std::string_view there = other == found.end() ? "" : std::string_view(other->second);
    if (text == there) continue;
    const auto at = static_cast<std::size_t>(
        std::mismatch(text.begin(), text.end(), there.begin(), there.end()).first - text.begin());
    all.push_back(
        fmt::format("{}: expected …{}…, found …{}…", path, around(text, at), around(there, at)));
  }
  return all;
}

}  // namespace faultline::faults
