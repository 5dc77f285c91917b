#include "http/refusal_limit.h"

#include <chrono>

namespace faultline {
namespace {

constexpr std::chrono::minutes kWindow{1};

}  // namespace

bool RefusalLimit::may_say(std::string_view reason, std::string_view peer, SteadyTime now) {
  if (now - minute_ >= kWindow) {
    minute_ = now;
    said_ = 0;
  }
  Key key{reason, peer};
  if (tallies_.size() >= kMostPeers && !tallies_.contains(key)) key.second.clear();
  Tally& tally = tallies_.try_emplace(std::move(key), Tally{now}).first->second;
  if (tally.said >= kMostOfAPeer || said_ >= kMost) {
    ++tally.unsaid;
    return false;
  }
  ++tally.said;
  ++said_;
  return true;
}

std::vector<RefusalLimit::Unsaid> RefusalLimit::take_unsaid(SteadyTime now) {
  std::vector<Unsaid> all;
  std::erase_if(tallies_, [&](const auto& entry) {
    const auto& [key, tally] = entry;
    if (now < tally.since + kWindow) return false;
    if (tally.unsaid > 0) all.push_back({key.first, key.second, tally.unsaid});
    return true;
  });
  return all;
}

}  // namespace faultline
