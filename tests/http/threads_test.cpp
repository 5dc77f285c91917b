#include "http/threads.h"

#include <gtest/gtest.h>

#include <deque>

namespace faultline {
namespace {

using May = LongReads::Turn::May;

void work_for(std::chrono::milliseconds time) {
  const auto begun = processor_time();
  while (processor_time() - begun < time) {
  }
}

TEST(LongReads, KeepNoMoreThreadsThanThereAreForThem) {
  LongReads reads;
  std::deque<LongReads::Turn> turns;
  for (std::size_t i = 0; i <= LongReads::kMost; ++i) {
    turns.emplace_back(reads);
    EXPECT_EQ(turns.back().next(), May::go_on) << "short so far";
  }
  work_for(std::chrono::milliseconds(60));
  for (std::size_t i = 0; i < LongReads::kMost; ++i)
    EXPECT_EQ(turns[i].next(), May::go_on) << "it has a place";
  EXPECT_EQ(turns.back().next(), May::stop_for_others);
  EXPECT_EQ(turns.front().next(), May::go_on) << "and keeps it";
  turns.pop_front();
  EXPECT_EQ(turns.back().next(), May::go_on) << "one has become free";
}

TEST(LongReads, EndTheOneThatHasTakenMostForAnother) {
  LongReads reads;
  std::deque<LongReads::Turn> turns;
  turns.emplace_back(reads);
  work_for(std::chrono::milliseconds(250));
  EXPECT_EQ(turns.front().next(), May::go_on);
  while (turns.size() < LongReads::kMost) turns.emplace_back(reads);
  work_for(std::chrono::milliseconds(60));
  for (LongReads::Turn& turn : turns) EXPECT_EQ(turn.next(), May::go_on);
  LongReads::Turn another(reads);
  work_for(std::chrono::milliseconds(60));
  EXPECT_EQ(another.next(), May::go_on);
  EXPECT_EQ(turns.front().next(), May::stop_for_others);
  EXPECT_EQ(turns.back().next(), May::go_on);
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
