#include "model/time.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

using namespace std::chrono_literals;

Timestamp at(std::int64_t micros) { return Timestamp{std::chrono::microseconds{micros}}; }

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;

TEST(Rfc3339, IsReadInEveryFormOfTheHeader) {
  struct Case {
    const char* text;
    const char* expected;  // null: the text is not a time
    bool zone_given = true;
  };
  const Case cases[] = {
      {"2026-03-05T02:47:11Z", "2026-03-05T02:47:11Z"},
      {"2026-03-05 02:47:11.5Z", "2026-03-05T02:47:11.500Z"},
      {"2026-03-05T02:47:11,123456+00:00", "2026-03-05T02:47:11.123456Z"},
      {"2026-03-05T02:47:11.123456789Z", "2026-03-05T02:47:11.123456Z"},
      {"2026-03-05T02:47:11+0530", "2026-03-04T21:17:11Z"},
      {"2026-03-05T02:47:11-08:00", "2026-03-05T10:47:11Z"},
      {"2026-03-05T02:47:11", "2026-03-05T02:47:11Z", false},
      {"2024-02-29 00:00:00", "2024-02-29T00:00:00Z", false},
      {"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"},
      {"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
      {"2023-02-29T00:00:00Z", nullptr},
      {"2026-13-05T02:47:11Z", nullptr},
      {"2026-03-05T24:00:00Z", nullptr},
      {"2026-03-05T02:47", nullptr},
      {"2026-03-05T02:47:11.Z", nullptr},
      {"2026-03-05T02:47:11Zulu", nullptr},
      {"2026-03-05T02:47:11+5", nullptr},
      {"2026-03-05T02:47:11+99:00", nullptr},
      {"2026-03-05_02:47:11", nullptr},
      {"+026-03-05T02:47:11", nullptr},
      {"", nullptr},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    bool zone_given = !c.zone_given;
    const auto time = parse_rfc3339(c.text, &zone_given);
    ASSERT_EQ(time.has_value(), c.expected != nullptr);
    if (!time) continue;
    EXPECT_EQ(to_rfc3339(*time), c.expected);
    EXPECT_EQ(zone_given, c.zone_given);
  }
}

TEST(Rfc3339, PrintsMicrosecondsOnlyWhenThereAreAny) {
  EXPECT_EQ(to_rfc3339(at(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(at(1'000)), "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(to_rfc3339(at(1)), "1970-01-01T00:00:00.000001Z");
}

TEST(EventTime, KnowsItsWallClockOnlyWhenTheLineHadOne) {
  EXPECT_FALSE(EventTime{}.known());
  EXPECT_FALSE(EventTime::since_boot(5).known());
  EXPECT_EQ(EventTime::since_boot(5).wall(), std::nullopt);
  EXPECT_EQ(EventTime::since_boot(5).uptime_us, 5);

  const EventTime time = EventTime::at(at(7), 1s, true);
  EXPECT_EQ(time.wall(), at(7));
  EXPECT_EQ(time.uncertainty_us, kSecond);
  EXPECT_TRUE(time.zone_assumed);
}

TEST(OrderOf, SaysBeforeAndAfterOnlyWhenItIsCertain) {
  struct Case {
    const char* why;
    EventTime a;
    EventTime b;
    bool same_host;
    Order expected;
  };
  const EventTime noon = EventTime::at(at(12 * kHour));
  const EventTime next_microsecond = EventTime::at(at(12 * kHour + 1));
  const EventTime second_later = EventTime::at(at(12 * kHour + kSecond));
  const EventTime three_seconds_later = EventTime::at(at(12 * kHour + 3 * kSecond));
  const EventTime within_noon = EventTime::at(at(12 * kHour), 1s);
  const EventTime local_noon = EventTime::at(at(12 * kHour), {}, true);
  const EventTime local_later = EventTime::at(at(12 * kHour + 5 * kSecond), {}, true);
  const EventTime next_day = EventTime::at(at(26 * kHour + 3 * kSecond));
  const EventTime in_the_evening = EventTime::at(at(25 * kHour));
  EventTime before_restart = EventTime::at(at(12 * kHour));
  before_restart.uptime_us = 900 * kSecond;
  EventTime after_restart = EventTime::at(at(13 * kHour));
  after_restart.uptime_us = 20 * kSecond;
  EventTime collected_together = EventTime::at(at(12 * kHour));
  collected_together.uptime_us = 901 * kSecond;

  const Case cases[] = {
      {"no time at all", {}, {}, true, Order::cannot_tell},
      {"one has no time", noon, {}, true, Order::cannot_tell},
      {"the same instant", noon, noon, true, Order::cannot_tell},
      {"one clock orders microseconds", noon, next_microsecond, true, Order::before},
      {"two clocks may differ by seconds", noon, second_later, false, Order::cannot_tell},
      {"more than two clocks differ by", noon, three_seconds_later, false, Order::before},
      {"inside a coarse stamp", within_noon, next_microsecond, true, Order::cannot_tell},
      {"just after a coarse stamp", within_noon, second_later, true, Order::before},
      {"both without a zone", local_noon, local_later, true, Order::before},
      {"one without a zone", local_noon, in_the_evening, true, Order::cannot_tell},
      {"no zone can bridge it", local_noon, next_day, false, Order::before},
      {"uptimes of one host", EventTime::since_boot(1), EventTime::since_boot(2), true,
       Order::before},
      {"uptimes of two hosts", EventTime::since_boot(1), EventTime::since_boot(2), false,
       Order::cannot_tell},
      {"an uptime and a wall clock", EventTime::since_boot(1), noon, true, Order::cannot_tell},
      {"uptime decides when stamps are equal", before_restart, collected_together, true,
       Order::before},
      {"a restart between them", before_restart, after_restart, true, Order::before},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(order_of(c.a, c.b, c.same_host), c.expected);
    const Order reversed = c.expected == Order::before  ? Order::after
                           : c.expected == Order::after ? Order::before
                                                        : Order::cannot_tell;
    EXPECT_EQ(order_of(c.b, c.a, c.same_host), reversed);
  }
}

}  // namespace
}  // namespace faultline
