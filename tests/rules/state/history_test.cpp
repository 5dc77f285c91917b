#include "rules/state/history.h"

#include <gtest/gtest.h>

#include <random>

namespace faultline {
namespace {

std::vector<std::uint32_t> unfolded(const FoldedSequence& sequence) {
  std::vector<std::uint32_t> all;
  for (std::uint64_t i = 0; i < sequence.size(); ++i) all.push_back(sequence.at(i));
  return all;
}

TEST(FoldedSequence, GivesBackWhateverWasPutIn) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    FoldedSequence sequence;
    std::vector<std::uint32_t> expected;
    while (expected.size() < 20000) {
      // Stretches that repeat, stretches that do not, and repeats with a flaw in them.
      std::vector<std::uint32_t> period(1 + random() % 90);
      for (auto& symbol : period)
        symbol = static_cast<std::uint32_t>(random() % (1 + random() % 5));
      for (std::size_t n = random() % 6000; n > 0; --n) {
        std::uint32_t symbol = random() % 2500 == 0 ? 9 : period[expected.size() % period.size()];
        expected.push_back(symbol);
        sequence.push_back(symbol);
      }
    }
    ASSERT_EQ(sequence.size(), expected.size());
    ASSERT_EQ(unfolded(sequence), expected) << "round " << round;
    std::size_t anywhere = random() % expected.size();
    ASSERT_EQ(sequence.at(anywhere), expected[anywhere]);
  }
}

TEST(FoldedSequence, KeepsOneIterationOfATrainingLoop) {
  FoldedSequence sequence;
  const int iteration = 137;
  for (int i = 0; i < iteration * 10000; ++i) {
    int step = i % iteration;
    sequence.push_back(step < 100 ? 1U : step < 130 ? 2U : static_cast<std::uint32_t>(step));
  }
  EXPECT_LT(sequence.held(), 2U * iteration);
}

TEST(History, KeepsWhatRanksAgreeOnOnce) {
  History history;
  std::vector<History::Place> places(1000);
  for (int call = 0; call < 500; ++call)
    for (auto& place : places)
      history.advance(place, static_cast<std::uint32_t>(call * 7919 % 491));
  EXPECT_EQ(history.branches(), 1U);
  EXPECT_LE(history.held(), 500U);
}

TEST(History, TellsWhereTwoRanksParted) {
  History history;
  History::Place a, b, c;
  for (std::uint32_t call : {1, 2, 3, 4, 5}) history.advance(a, call);
  for (std::uint32_t call : {1, 2, 9, 4, 5}) history.advance(b, call);
  for (std::uint32_t call : {1, 2, 9, 4, 6, 7}) history.advance(c, call);
  EXPECT_EQ(history.common(a, b), 2U);
  EXPECT_EQ(history.common(a, c), 2U);
  EXPECT_EQ(history.common(b, c), 4U);
  EXPECT_EQ(history.common(a, a), 5U);
  EXPECT_EQ(history.call_at(c, 1), 2U) << "before the fork it is the trunk's";
  EXPECT_EQ(history.call_at(c, 2), 9U);
  EXPECT_EQ(history.call_at(c, 5), 7U);
}

TEST(History, ARankThatIsOnlyBehindHasNotParted) {
  History history;
  History::Place ahead, behind;
  for (std::uint32_t call : {1, 2, 3, 4}) history.advance(ahead, call);
  for (std::uint32_t call : {1, 2}) EXPECT_FALSE(history.advance(behind, call));
  EXPECT_EQ(history.common(ahead, behind), 2U);
  EXPECT_EQ(history.branches(), 1U);
}

TEST(History, TheFirstRankSeenMayBeTheOddOne) {
  History history;
  History::Place odd;
  for (std::uint32_t call : {1, 9, 3}) history.advance(odd, call);
  std::vector<History::Place> others(50);
  for (auto& place : others)
    for (std::uint32_t call : {1, 2, 3}) history.advance(place, call);
  EXPECT_EQ(history.branches(), 2U) << "the fifty share one branch";
  for (const auto& place : others) EXPECT_EQ(history.common(odd, place), 1U);
}

TEST(History, AgreesWithPlainVectorsOnRandomJobs) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    History history;
    std::vector<History::Place> places(6);
    std::vector<std::vector<std::uint32_t>> calls(6);
    for (int step = 0; step < 400; ++step) {
      std::size_t rank = random() % 6;
      auto call = static_cast<std::uint32_t>(random() % 40 == 0 ? 5 : calls[rank].size() % 7);
      history.advance(places[rank], call);
      calls[rank].push_back(call);
    }
    for (std::size_t a = 0; a < 6; ++a) {
      ASSERT_EQ(places[a].position, calls[a].size());
      for (std::size_t i = 0; i < calls[a].size(); ++i)
        ASSERT_EQ(history.call_at(places[a], i), calls[a][i]);
      for (std::size_t b = 0; b < 6; ++b) {
        std::size_t same = 0;
        while (same < std::min(calls[a].size(), calls[b].size()) &&
               calls[a][same] == calls[b][same])
          ++same;
        ASSERT_EQ(history.common(places[a], places[b]), same);
      }
    }
  }
}

}  // namespace
}  // namespace faultline
