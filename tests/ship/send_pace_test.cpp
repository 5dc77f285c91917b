#include "ship/send_pace.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const SendPace::Clock::time_point kStart = SendPace::Clock::time_point(std::chrono::hours(1));

// How many pieces a log is sent in that has new bytes whenever it is looked at.
int pieces_within(SendPace& pace, SendPace::Clock::time_point& now, seconds time) {
  int pieces = 0;
  for (const auto end = now + time; now < end; now += milliseconds(200))
    if (pace.has_waited(now)) {
      pace.take(now);
      ++pieces;
    }
  return pieces;
}

TEST(SendPace, FirstBytesGoAtOnceAndTheNextAfterASecond) {
  SendPace pace;
  EXPECT_TRUE(pace.has_waited(kStart));
  pace.take(kStart);
  EXPECT_FALSE(pace.has_waited(kStart + milliseconds(900)));
  EXPECT_TRUE(pace.has_waited(kStart + milliseconds(1000)));
}

TEST(SendPace, ALogThatAlwaysGrowsIsSentEveryThreeSeconds) {
  SendPace pace;
  auto now = kStart;
  EXPECT_LE(pieces_within(pace, now, seconds(60)), 22);
  EXPECT_EQ(pieces_within(pace, now, seconds(60)), 20);
}

TEST(SendPace, ALogThatRestsWaitsNoLonger) {
  SendPace pace;
  auto now = kStart;
  pieces_within(pace, now, seconds(60));
  pace.take(now);
  now += milliseconds(1500);
  EXPECT_FALSE(pace.has_waited(now, 0.5));
  EXPECT_TRUE(pace.has_waited(now, 1.2));
}

TEST(SendPace, WhatComesAfterASilenceIsSentAtOnce) {
  SendPace pace;
  auto now = kStart;
  pieces_within(pace, now, seconds(60));
  now += seconds(10);
  ASSERT_TRUE(pace.has_waited(now));
  pace.take(now);
  EXPECT_TRUE(pace.has_waited(now + seconds(1)));
}

}  // namespace
}  // namespace faultline
