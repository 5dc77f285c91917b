#include "ship/collect/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <utility>

#include "logging/log.h"
#include "ship/state_file.h"

namespace faultline {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostRemembered = 1024;
constexpr const char* kCollectedFile = "collected.json";

std::int64_t system_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

CollectHistory::CollectHistory(std::filesystem::path folder, CollectPace pace)
    : folder_(std::move(folder)), pace_(pace) {
  if (!folder_.empty()) read();
}

void CollectHistory::read() {
  std::ifstream file(folder_ / kCollectedFile, std::ios::binary);
  if (!file) return;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    const json::value kept = json::parse(text);
    for (const json::value& value : kept.at("collected").as_array()) {
      const auto word = [&](const char* key) {
        return std::string(value.as_object().at(key).as_string());
      };
      entries_.push_back({.id = word("id"),
                          .kind = word("kind"),
                          .job = word("job"),
                          .at = value.as_object().at("at").to_number<std::int64_t>()});
    }
  } catch (const std::exception&) {
    say(LogLevel::error, "collect",
        fmt::format("{} is damaged, so it is not known what was collected before",
                    (folder_ / kCollectedFile).string()));
  }
}

bool CollectHistory::write() const {
  json::array collected;
  for (const Entry& entry : entries_)
    collected.push_back(
        {{"id", entry.id}, {"kind", entry.kind}, {"job", entry.job}, {"at", entry.at}});
  return replace_file(folder_ / kCollectedFile,
                      json::serialize(json::object{{"collected", std::move(collected)}}) + "\n");
}

std::string CollectHistory::refusal(const CollectRequest& wanted) {
  constexpr std::int64_t kHour = 3600;
  const std::int64_t now = system_seconds();
  std::size_t in_this_hour = 0;
  std::string why;
  for (Entry& entry : entries_) {
    entry.at = std::min(entry.at, now);  // the clock was set back
    if (entry.id == wanted.id) return "this id was seen before";
    if (now - entry.at < kHour) ++in_this_hour;
    if (entry.kind == wanted.kind && entry.job == wanted.job &&
        now - entry.at < pace_.same_again.count())
      why = fmt::format("the same was collected less than {} s ago", pace_.same_again.count());
  }
  if (why.empty() && in_this_hour >= pace_.most_in_an_hour)
    why = fmt::format("{} things were collected in the last hour", in_this_hour);
  return why;
}

bool CollectHistory::add(const CollectRequest& wanted) {
  entries_.push_back(
      {.id = wanted.id, .kind = wanted.kind, .job = wanted.job, .at = system_seconds()});
  if (entries_.size() > kMostRemembered) entries_.pop_front();
  return folder_.empty() || write();
}

}  // namespace faultline
