#include "service/pace.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

using std::chrono::milliseconds;

constexpr SteadyTime kStart{std::chrono::seconds{1000}};

TEST(Pace, LetsWorkThatWasNeverDoneBegin) {
  const Pace pace;
  EXPECT_FALSE(pace.is_too_soon(kStart));
}

TEST(Pace, LetsCheapWorkBeDoneAgainAtOnce) {
  Pace pace;
  pace.begin(kStart);
  pace.end(milliseconds(10));
  EXPECT_FALSE(pace.is_too_soon(kStart + milliseconds(10)));
}

TEST(Pace, SpendsAPartOfTheTimeOnDearWork) {
  Pace pace;
  pace.begin(kStart);
  pace.end(milliseconds(100));
  EXPECT_TRUE(pace.is_too_soon(kStart + milliseconds(999)));
  EXPECT_FALSE(pace.is_too_soon(kStart + milliseconds(1000)));
}

TEST(Pace, HoldsWorkBackWhileItIsBeingDone) {
  Pace pace;
  pace.begin(kStart);
  pace.end(milliseconds(100));
  pace.begin(kStart + milliseconds(1500));
  EXPECT_TRUE(pace.is_too_soon(kStart + milliseconds(1510)));
}

}  // namespace
}  // namespace faultline
