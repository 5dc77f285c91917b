#include "rules/state/boot_times.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace faultline {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kBoot = 1'772'670'408 * kSecond;

EventTime up(std::int64_t second) { return EventTime::since_boot(second * kSecond); }
EventTime wall(std::int64_t second) {
  return EventTime::at(Timestamp{std::chrono::microseconds(kBoot + second * kSecond)});
}
EventTime both(std::int64_t second, std::int64_t boot_us = kBoot) {
  EventTime time = up(second);
  time.wall_us = boot_us + second * kSecond;
  return time;
}

// A few logs, line by line.
class Logs {
 public:
  LineRef say(std::uint32_t source, EventTime time, Fact fact = GpuXid{.gpu = "g", .code = 79},
              const std::string& host = "") {
    const std::uint64_t line = ++lines_[source];
    Event event;
    event.line = line;
    event.time = time;
    event.fact = std::move(fact);
    times_.apply(source, host, event);
    return {.source = source, .line = line, .time = time};
  }
  // Seconds after kBoot; nothing if the line has no date.
  std::optional<double> dated(const LineRef& line, bool one_host = true) const {
    const EventTime time = times_.dated(line, [&](std::uint32_t source) {
      return one_host ? std::string("node-0") : fmt::format("node-{}", source);
    });
    if (!time.wall_us) return std::nullopt;
    EXPECT_GE(time.uncertainty_us, 2 * kSecond);
    EXPECT_TRUE(time.uptime_us.has_value());
    // The middle of the range, without the uncertainty of the stamp that the date comes from.
    return static_cast<double>(*time.wall_us + kSecond - kBoot) / 1e6;
  }
  void hosts_change() { times_.forget_anchors(); }
  std::uint64_t boots(std::uint32_t source) const { return times_.boots(source, ""); }

 private:
  BootTimes times_;
  std::map<std::uint32_t, std::uint64_t> lines_;
};

GpuXid xid(int code, std::string detail = "") {
  return {.gpu = "0000:3b:00.0", .code = code, .detail = std::move(detail)};
}

TEST(BootTimes, APlainStampStaysRelativeWhereNothingTellsMore) {
  Logs logs;
  EXPECT_EQ(logs.dated(logs.say(0, up(100))), std::nullopt);
}

TEST(BootTimes, ALineWithBothStampsDatesTheOthersOfItsBoot) {
  Logs logs;
  const LineRef before = logs.say(0, up(50));
  logs.say(0, both(100));
  EXPECT_EQ(logs.dated(before), 50);
  EXPECT_EQ(logs.dated(logs.say(0, up(200))), 200);
}

TEST(BootTimes, WhatTheKernelReadOffItsClockCounts) {
  Logs logs;
  logs.say(0, up(2), ClockReading{.wall_us = kBoot + 2 * kSecond, .teller = "rtc"});
  EXPECT_EQ(logs.dated(logs.say(0, up(300))), 300);
}

TEST(BootTimes, WhatTheSenderToldCountsForTheLastBoot) {
  Logs logs;
  logs.say(0, up(0), ClockReading{.wall_us = kBoot, .teller = "sender"});
  logs.say(0, up(0), HostBooted{"6.1"});
  const LineRef first = logs.say(0, up(8000));
  EXPECT_EQ(logs.dated(first), 8000);
  logs.say(0, up(0), HostBooted{"6.1"});
  const LineRef second = logs.say(0, up(10));
  EXPECT_EQ(logs.dated(first), std::nullopt);
  EXPECT_EQ(logs.dated(second), 10);
}

TEST(BootTimes, AnotherToldBootTimeIsAnotherBoot) {
  Logs logs;
  logs.say(0, up(0), ClockReading{.wall_us = kBoot, .teller = "sender"});
  const LineRef first = logs.say(0, up(100));
  logs.say(0, up(0), ClockReading{.wall_us = kBoot + 86400 * kSecond, .teller = "sender"});
  const LineRef second = logs.say(0, up(100));
  EXPECT_EQ(logs.dated(first), 100);
  EXPECT_EQ(logs.dated(second), 86500);
}

TEST(BootTimes, OfToldBootsOnlyThoseInWhichTheHostSpokeAreKept) {
  Logs logs;
  const LineRef before = logs.say(0, up(100));
  for (std::int64_t day = 0; day < 9; ++day)
    logs.say(0, up(0), ClockReading{.wall_us = kBoot + day * 86400 * kSecond, .teller = "sender"});
  EXPECT_EQ(logs.boots(0), 1u);
  EXPECT_EQ(logs.dated(before), 100);
  EXPECT_EQ(logs.dated(logs.say(0, up(5))), 8 * 86400 + 5);
}

TEST(BootTimes, NothingIsConcludedAcrossABoot) {
  Logs logs;
  const LineRef before = logs.say(0, up(90000));
  logs.say(0, up(0), HostBooted{"6.1"});
  logs.say(0, both(100));
  EXPECT_EQ(logs.dated(before), std::nullopt);
  EXPECT_EQ(logs.boots(0), 1U);

  Logs silent;  // no banner, but the uptime fell
  const LineRef old = silent.say(0, up(90000));
  silent.say(0, both(100));
  EXPECT_EQ(silent.dated(old), std::nullopt);
  EXPECT_EQ(silent.boots(0), 1U);
}

TEST(BootTimes, TheBannerThatALogBeginsWithEndsNoBoot) {
  Logs logs;
  logs.say(0, up(0), HostBooted{"6.1"});
  logs.say(0, up(900));
  EXPECT_EQ(logs.boots(0), 0U);
}

TEST(BootTimes, PartsOfACrashDumpThatLieNewestFirstAreOneBoot) {
  Logs logs;
  logs.say(0, up(12345));
  logs.say(0, up(12340));
  logs.say(0, up(12338));
  EXPECT_EQ(logs.boots(0), 0U);
}

TEST(BootTimes, LogsPutTogetherInTheWrongOrderAreStillOneBoot) {
  Logs logs;
  logs.say(0, both(90000));
  logs.say(0, both(100));
  EXPECT_EQ(logs.boots(0), 0U);
}

TEST(BootTimes, HostsInOneLogHaveClocksOfTheirOwn) {
  Logs logs;
  for (int turn = 0; turn < 5; ++turn) {
    logs.say(0, both(90000 + turn), xid(79), "node-1");
    logs.say(0, both(100 + turn, kBoot + 1000 * kSecond), xid(79), "node-2");
  }
  EXPECT_EQ(logs.boots(0), 0U);
}

TEST(BootTimes, TheSameMessageInAnotherLogOfTheHostDatesThis) {
  Logs logs;
  const LineRef line = logs.say(0, up(8423), xid(79, "GPU has fallen off the bus."));
  logs.say(1, wall(8423), xid(79, "GPU has fallen off the bus."));
  EXPECT_EQ(logs.dated(line), 8423);
  logs.hosts_change();
  EXPECT_EQ(logs.dated(line, false), std::nullopt);  // a log of another host
}

TEST(BootTimes, AnotherLogDatesALineThatWasAskedForBeforeItCame) {
  Logs logs;
  const LineRef line = logs.say(0, up(8423), xid(79, "fell off the bus"));
  EXPECT_EQ(logs.dated(line), std::nullopt);
  logs.say(1, wall(8423), xid(79, "fell off the bus"));
  EXPECT_EQ(logs.dated(line), 8423);
}

TEST(BootTimes, AMessageThatALogHoldsTwiceDatesNothing) {
  Logs logs;
  const LineRef line = logs.say(0, up(8423), xid(79));
  logs.say(1, wall(8423), xid(79));
  logs.say(1, wall(20000), xid(79));
  EXPECT_EQ(logs.dated(line), std::nullopt);
}

TEST(BootTimes, SharedMessagesThatDisagreeDateNothing) {
  Logs logs;
  const LineRef line = logs.say(0, up(8423), xid(79));
  logs.say(0, up(9000), xid(48));
  logs.say(1, wall(8423), xid(79));
  logs.say(1, wall(20000), xid(48));
  EXPECT_EQ(logs.dated(line), std::nullopt);
}

TEST(BootTimes, OrderWithinABootFollowsTheUptimeAlsoWhereTheDateIsUnsure) {
  Logs logs;
  logs.say(0, both(100));
  EventTime first = up(200);
  EventTime second = up(200);
  *second.uptime_us += 10;
  EXPECT_EQ(order_of(first, second, true), Order::before);
}

}  // namespace
}  // namespace faultline
