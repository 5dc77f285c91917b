#include "rules/answer/clock_offsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace faultline {
namespace {

// Ranks finish the set-up of a communicator within so many seconds of each other.
constexpr double kSpread = 10;
constexpr std::size_t kLeastHosts = 3;  // of two clocks, either may be the wrong one

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// When each host of a communicator had set it up, by its own clock. Empty if only some stamps name
// a time zone: those cannot be compared with the others.
std::map<std::string, double> set_up_at(const View& view, const Communicator& communicator) {
  std::map<std::string, std::vector<double>> told;
  std::optional<bool> zone_assumed;
  for (const std::size_t index : communicator.members) {
    const Member& member = view.member(index);
    const EventTime& time = member.init_line.time;
    if (!member.complete || !time.wall_us || member.host.empty()) continue;
    if (zone_assumed.value_or(time.zone_assumed) != time.zone_assumed) return {};
    zone_assumed = time.zone_assumed;
    told[member.host].push_back(static_cast<double>(*time.wall_us) / 1e6);
  }
  std::map<std::string, double> at;
  for (auto& [host, times] : told) at.emplace(host, median(std::move(times)));
  return at;
}

}  // namespace

std::vector<ClockOffset> clock_offsets(const View& view) {
  std::map<std::string, std::vector<double>> ahead;
  for (const Communicator& communicator : view.communicators) {
    const std::map<std::string, double> at = set_up_at(view, communicator);
    if (at.size() < kLeastHosts) continue;
    std::vector<double> times;
    for (const auto& [host, time] : at) times.push_back(time);
    const double usual = median(std::move(times));
    for (const auto& [host, time] : at) ahead[host].push_back(time - usual);
  }
  std::vector<ClockOffset> offsets;
  for (auto& [host, seconds] : ahead) {
    const auto [least, most] = std::ranges::minmax(seconds);
    const double offset = median(seconds);
    if (std::abs(offset) <= kSpread || most - least > kSpread) continue;
    offsets.push_back({.host = host,
                       .seconds = std::round(offset * 10) / 10,
                       .basis = fmt::format("{} communicators that its ranks set up together with "
                                            "ranks of other hosts",
                                            seconds.size())});
  }
  return offsets;
}

}  // namespace faultline
