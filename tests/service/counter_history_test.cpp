#include "service/counter_history.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

constexpr Timestamp at(int hour) { return Timestamp(std::chrono::hours(24 * 20000 + hour)); }

CounterSeries series(std::vector<CounterReading> readings) {
  return {.counter = "SymbolErrorCounter", .tool = "perfquery", .readings = std::move(readings)};
}

TEST(CounterHistory, SpansTheJobsAndHasARate) {
  const CounterSeries later = series({{130, at(5)}, {150, at(6)}});
  const CounterSeries earlier = series({{100, at(1)}});
  const auto history = history_of({&later, &earlier});
  ASSERT_TRUE(history);
  EXPECT_EQ(history->first.value, 100U);
  EXPECT_EQ(history->last.value, 150U);
  EXPECT_EQ(history->delta, 50U);
  EXPECT_FALSE(history->at_least);
  EXPECT_DOUBLE_EQ(*history->rate_per_hour, 10);
}

TEST(CounterHistory, OfACounterThatWasClearedIsALeast) {
  const CounterSeries cleared = series({{100, at(1)}, {7, at(2)}, {9, at(3)}});
  const auto history = history_of({&cleared});
  ASSERT_TRUE(history);
  EXPECT_EQ(history->delta, 9U);
  EXPECT_TRUE(history->cleared);
  EXPECT_TRUE(history->at_least);
}

TEST(CounterHistory, OfAFullCounterIsALeast) {
  CounterSeries full = series({{65000, at(1)}, {65535, at(2)}});
  full.full_at = 65535;
  const auto history = history_of({&full});
  ASSERT_TRUE(history);
  EXPECT_TRUE(history->at_least);
  EXPECT_FALSE(history->cleared);
}

TEST(CounterHistory, ReadingsWithoutTimesAreComparedWithinOneJobOnly) {
  const CounterSeries one = series({{5, {}}, {8, {}}});
  const CounterSeries other = series({{3, {}}});
  const auto history = history_of({&other, &one});
  ASSERT_TRUE(history);
  EXPECT_EQ(history->delta, 3U);
  EXPECT_FALSE(history->rate_per_hour);
  const CounterSeries alone = series({{5, {}}});
  EXPECT_FALSE(history_of({&other, &alone}));
}

}  // namespace
}  // namespace faultline
