#include "service/unanswered_pushes.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

TEST(UnansweredPushes, TellThatTheBodyBeforeWasNotStored) {
  UnansweredPushes pushes;
  EXPECT_FALSE(pushes.begin("j", "s").after_another);
  const UnansweredPushes::Begun again = pushes.begin("j", "s");
  EXPECT_TRUE(again.after_another);
  EXPECT_FALSE(pushes.begin("j", "t").after_another);
  EXPECT_FALSE(pushes.begin("js", "").after_another);
  pushes.stored(again);
  EXPECT_FALSE(pushes.begin("j", "s").after_another);
}

TEST(UnansweredPushes, AreNotSettledByAnEarlierOne) {
  UnansweredPushes pushes;
  const UnansweredPushes::Begun first = pushes.begin("j", "s");
  pushes.begin("j", "s");
  pushes.stored(first);
  EXPECT_TRUE(pushes.begin("j", "s").after_another);
}

TEST(UnansweredPushes, AreBounded) {
  UnansweredPushes pushes;
  for (std::size_t i = 0; i < UnansweredPushes::kMost; ++i) pushes.begin("j", std::to_string(i));
  pushes.begin("j", "one more");
  EXPECT_FALSE(pushes.begin("j", "one more").after_another);
  EXPECT_TRUE(pushes.begin("j", "0").after_another);
}

}  // namespace
}  // namespace faultline
