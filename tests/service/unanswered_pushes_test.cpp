#include "service/unanswered_pushes.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

TEST(UnansweredPushes, TellThatAPartOfTheBodyBeforeIsStored) {
  UnansweredPushes pushes;
  EXPECT_FALSE(pushes.begin("j", "s", 100).follows_a_part());  // refused at once
  EXPECT_TRUE(pushes.begin("j", "s", 150).follows_a_part());
  EXPECT_FALSE(pushes.begin("j", "t", 150).follows_a_part());
  EXPECT_FALSE(pushes.begin("js", "", 150).follows_a_part());
}

TEST(UnansweredPushes, DoNotTellOfARefusedBodyOfWhichNothingIsStored) {
  UnansweredPushes pushes;
  EXPECT_FALSE(pushes.begin("j", "s", 100).follows_a_part());
  EXPECT_FALSE(pushes.begin("j", "s", 100).follows_a_part());
  EXPECT_TRUE(pushes.begin("j", "s", 150).follows_a_part());
}

TEST(UnansweredPushes, AreOverWhenOneIsStored) {
  UnansweredPushes pushes;
  EXPECT_FALSE(pushes.begin("j", "s", 100).follows_a_part());
  pushes.begin("j", "s", 150).stored();
  EXPECT_FALSE(pushes.begin("j", "s", 200).follows_a_part());
}

// Of two at once, neither is refused yet.
TEST(UnansweredPushes, DoNotCountAsRefusedWhileTheyAreUnderWay) {
  UnansweredPushes pushes;
  UnansweredPushes::Push first = pushes.begin("j", "s", 100);
  UnansweredPushes::Push second = pushes.begin("j", "s", 150);
  EXPECT_FALSE(second.follows_a_part());
  first.stored();
  second.stored();
  EXPECT_FALSE(pushes.begin("j", "s", 200).follows_a_part());
}

TEST(UnansweredPushes, AreBounded) {
  UnansweredPushes pushes;
  for (std::size_t i = 0; i < 2 * UnansweredPushes::kMost; ++i)
    EXPECT_FALSE(pushes.begin("j", std::to_string(i), 0).follows_a_part());
  EXPECT_FALSE(pushes.begin("j", "one more", 0).follows_a_part());
  EXPECT_TRUE(pushes.begin("j", "one more", 1).follows_a_part());
}

}  // namespace
}  // namespace faultline
