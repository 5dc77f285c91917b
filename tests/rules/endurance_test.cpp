#include "rules/picture/when/endurance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "rules/picture/when/between.h"

namespace faultline {
namespace {

constexpr std::int64_t kDelayUs = 10;

using Signs = std::vector<EventTime>;  // of one rank

// The same, by asking each sign of each rank.
bool all_outlive(const std::vector<Signs>& ranks, const EventTime& time) {
  return !ranks.empty() && std::ranges::all_of(ranks, [&](const Signs& signs) {
    return std::ranges::any_of(signs, [&](const EventTime& sign) {
      const auto passed = microseconds_between(time, sign);
      return passed && *passed > kDelayUs;
    });
  });
}

TEST(Endurance, SaysWhatIsFoundByAskingEachRank) {
  std::minstd_rand random(11);
  const auto below = [&](std::uint32_t most) { return static_cast<std::int64_t>(random() % most); };
  const auto a_time = [&](std::int64_t from) {
    EventTime time;
    if (below(3) != 0) time.uptime_us = from + below(60);
    if (below(3) != 0) time.wall_us = from + below(60);
    time.zone_assumed = below(4) == 0;
    return time;
  };
  std::array<int, 2> answers{};
  for (int round = 0; round < 600; ++round) {
    std::vector<Signs> ranks(static_cast<std::size_t>(below(5)));
    std::vector<Outlived> outlived;
    for (Signs& signs : ranks) {
      Outlived& rank = outlived.emplace_back();
      for (std::int64_t count = 1 + below(4); count > 0; --count) {
        signs.push_back(a_time(20));
        rank.learn(signs.back(), kDelayUs);
      }
    }
    const Endurance endurance(std::move(outlived));
    for (int ask = 0; ask < 10; ++ask) {
      const EventTime time = a_time(0);
      const bool expected = all_outlive(ranks, time);
      EXPECT_EQ(endurance.outlives(time), expected);
      ++answers[expected];
    }
  }
  EXPECT_GT(*std::ranges::min_element(answers), 1000);
}

}  // namespace
}  // namespace faultline
