#include "http/threads.h"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

namespace faultline {
namespace {

using May = LongReads::Turn::May;

TEST(LongReads, KeepsNoMoreThreadsThanThereAreForThem) {
  LongReads reads;
  std::deque<LongReads::Turn> turns;
  for (std::size_t i = 0; i <= LongReads::kMost; ++i) {
    turns.emplace_back(reads);
    EXPECT_EQ(turns.back().next(), May::go_on) << "short so far";
  }
  std::this_thread::sleep_for(LongReads::kLong);
  for (std::size_t i = 0; i < LongReads::kMost; ++i)
    EXPECT_EQ(turns[i].next(), May::go_on) << "it has a place";
  EXPECT_EQ(turns.back().next(), May::stop_for_others);
  EXPECT_EQ(turns.front().next(), May::go_on) << "and keeps it";
  turns.pop_front();
  EXPECT_EQ(turns.back().next(), May::go_on) << "one has become free";
}

TEST(LongReads, EndWhenTheServerStops) {
  LongReads reads;
  LongReads::Turn turn(reads);
  EXPECT_EQ(turn.next(), May::go_on);
  reads.stop();
  EXPECT_EQ(turn.next(), May::stop_for_good);
}

}  // namespace
}  // namespace faultline
