// What several ranks called, worked out by laying their logs along each other.
#include "rules/picture/calls/common_sequence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace faultline {
namespace {

using testing::ElementsAre;

CallSequence calls(std::initializer_list<std::uint32_t> numbers) {
  CallSequence sequence;
  for (const std::uint32_t number : numbers) sequence.push_back({.call = number});
  return sequence;
}

TEST(CommonSequence, ACallThatOneRankAddsMovesTheEndsBehindIt) {
  CommonSequence common(calls({1, 2, 3, 4}));
  common.add(calls({1, 2}));
  common.add(calls({1, 2, 9, 3}));
  EXPECT_EQ(common.calls(), calls({1, 2, 9, 3, 4}));
  EXPECT_THAT(common.ends(), ElementsAre(5, 2, 4));
}

TEST(CommonSequence, ARankWhoseCallsAllLieBeforeTheOthersIsAtItsBeginning) {
  CommonSequence common(calls({1, 1, 1}));
  common.add(calls({2, 2, 2}));
  ASSERT_EQ(common.ends().size(), 2u);
  EXPECT_EQ(common.ends()[1], 0u);
}

TEST(CommonSequence, ARankThatSharesNothingIsLeftOutWhenTheSequenceIsLong) {
  CommonSequence common(calls({1, 2, 3, 4}));
  for (std::uint32_t i = 0; i < 2000; ++i) common.add(calls({1000 + i, 5000 + i}));
  common.add(calls({90'001, 90'002}));
  common.add(calls({1000, 5000}));
  EXPECT_LT(common.calls().size(), 2000u);
  EXPECT_EQ(common.ends()[2001], std::nullopt);
  EXPECT_EQ(common.ends()[2002], common.ends()[1]) << "a rank like an earlier one is not";
}

}  // namespace
}  // namespace faultline
