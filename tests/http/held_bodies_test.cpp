#include "http/held_bodies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>

namespace faultline {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMany = HeldBodies::kMany;
constexpr std::size_t kFree = HeldBodies::kFree;

void nobody_wakes() { FAIL(); }

class HeldBodiesTest : public ::testing::Test {
 protected:
  HeldBodies all;
  const SteadyTime begin = steady_now();
};

TEST_F(HeldBodiesTest, GrowWhileAllTogetherHoldLittle) {
  HeldBodies::Share one(all, nobody_wakes);
  HeldBodies::Share other(all, nobody_wakes);
  one.hold(kMany / 2, begin);
  other.hold(kMany / 2, begin);
  EXPECT_TRUE(one.may_grow(begin));
  EXPECT_TRUE(other.may_grow(begin));
}

TEST_F(HeldBodiesTest, LetOnlyTheLargestGoOnWhileAllTogetherHoldMuch) {
  HeldBodies::Share large(all, nobody_wakes);
  HeldBodies::Share small(all, nobody_wakes);
  HeldBodies::Share tiny(all, nobody_wakes);
  large.hold(kMany + kFree, begin);
  small.hold(2 * kFree, begin);
  tiny.hold(kFree, begin);
  EXPECT_TRUE(large.may_grow(begin));
  EXPECT_FALSE(small.may_grow(begin));
  EXPECT_TRUE(tiny.may_grow(begin));
  EXPECT_FALSE(large.has_to_end() || small.has_to_end() || tiny.has_to_end());
}

TEST_F(HeldBodiesTest, HoldAsManySmallBodiesAsThereAreConnections) {
  std::deque<HeldBodies::Share> shares;
  for (std::size_t i = 0; i < 4096; ++i) shares.emplace_back(all, nobody_wakes).hold(kFree, begin);
  HeldBodies::Share dump(all, nobody_wakes);
  dump.hold(8 * kFree, begin);
  EXPECT_TRUE(dump.may_grow(begin));
  EXPECT_FALSE(dump.has_to_end());
}

TEST_F(HeldBodiesTest, GrowAgainWhenOneHasEnded) {
  HeldBodies::Share small(all, nobody_wakes);
  small.hold(2 * kFree, begin);
  {
    HeldBodies::Share large(all, nobody_wakes);
    large.hold(kMany + kFree, begin);
    EXPECT_FALSE(small.may_grow(begin));
  }
  EXPECT_TRUE(small.may_grow(begin));
  EXPECT_EQ(all.bytes(), kFree);
  small.hold(0, begin);
  EXPECT_EQ(all.bytes(), 0u);
}

TEST_F(HeldBodiesTest, EndTheOneThatStandsStillWhenAnotherWaits) {
  int woken = 0;
  HeldBodies::Share stalled(all, [&] { ++woken; });
  HeldBodies::Share waiting(all, nobody_wakes);
  stalled.hold(kMany + kFree, begin);
  stalled.hold(kMany + kFree + 1, begin + 20s);  // a byte now and then is no progress
  waiting.hold(2 * kFree, begin + 25s);
  EXPECT_FALSE(waiting.may_grow(begin + 29s));
  EXPECT_FALSE(stalled.has_to_end());
  EXPECT_FALSE(waiting.may_grow(begin + HeldBodies::kPatience));
  EXPECT_FALSE(waiting.may_grow(begin + 1h)) << "the other has not made room yet";
  EXPECT_TRUE(stalled.has_to_end());
  EXPECT_FALSE(waiting.has_to_end());
  EXPECT_EQ(woken, 1);
}

TEST_F(HeldBodiesTest, DoNotEndTheLargestWhileItComesOn) {
  HeldBodies::Share slow(all, nobody_wakes);
  int woken = 0;
  HeldBodies::Share waiting(all, [&] { ++woken; });
  waiting.hold(2 * kFree, begin);
  for (int i = 0; i < 10; ++i) {
    slow.hold(kMany + kFree + static_cast<std::size_t>(i) * HeldBodies::kStep, begin + i * 20s);
    EXPECT_TRUE(slow.may_grow(begin + i * 20s));
    EXPECT_FALSE(waiting.may_grow(begin + i * 20s));
  }
  EXPECT_FALSE(slow.has_to_end());
  EXPECT_TRUE(waiting.has_to_end()) << "its sender is told to come again";
  EXPECT_EQ(woken, 1);
}

TEST_F(HeldBodiesTest, EndNobodyForHoldingLongWhileThereIsRoom) {
  HeldBodies::Share slow(all, nobody_wakes);
  slow.hold(kMany / 2, begin);
  EXPECT_TRUE(slow.may_grow(begin + 1h));
  EXPECT_FALSE(slow.has_to_end());
}

TEST_F(HeldBodiesTest, EndAPieceThatUnpacksToMoreThanThereIsRoomFor) {
  std::deque<HeldBodies::Share> shares;
  for (std::size_t held = 0; held <= HeldBodies::kMost; held += kMany / 2)
    shares.emplace_back(all, nobody_wakes).hold(kMany / 2 + kFree, begin);
  EXPECT_TRUE(shares.back().has_to_end());
  EXPECT_FALSE(shares.front().has_to_end());
}

}  // namespace
}  // namespace faultline
