#include "http/request_rate.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kStart{seconds{1000}};

TEST(RequestRate, IsThatOfTheTimeInWhichTheServerWaits) {
  RequestRate rate;
  rate.begin(100);
  rate.wait_begins(kStart);
  rate.wait_ends(kStart + seconds{2});
  rate.received(900);
  // The disk takes a minute for what has come.
  rate.wait_begins(kStart + seconds{62});
  EXPECT_EQ(rate.bytes_per_second(kStart + seconds{65}), 200);
}

TEST(RequestRate, IsNotKnownBeforeTheServerHasWaitedForLong) {
  RequestRate rate;
  rate.begin(1);
  rate.wait_begins(kStart);
  EXPECT_FALSE(rate.bytes_per_second(kStart + RequestRate::kLeastWait - seconds{1}));
  EXPECT_TRUE(rate.bytes_per_second(kStart + RequestRate::kLeastWait));
}

TEST(RequestRate, IsOfTheRequestThatIsBeingReadOnly) {
  constexpr seconds kLong{10};
  RequestRate rate;
  rate.wait_begins(kStart);
  EXPECT_FALSE(rate.bytes_per_second(kStart + kLong)) << "no request has begun";
  rate.wait_ends(kStart + kLong);
  rate.begin(50);
  EXPECT_FALSE(rate.bytes_per_second(kStart + kLong)) << "the server is at work";
  rate.wait_begins(kStart + kLong);
  EXPECT_EQ(rate.bytes_per_second(kStart + 2 * kLong), 5);
  rate.wait_ends(kStart + 2 * kLong);
  rate.end();
  rate.wait_begins(kStart + 2 * kLong);
  EXPECT_FALSE(rate.bytes_per_second(kStart + 4 * kLong)) << "the connection rests";
}

}  // namespace
}  // namespace faultline
