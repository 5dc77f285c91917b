#include "rules/state/kernel_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace faultline {
namespace {

// A dmesg of lines that a signature asked for.
class Log {
 public:
  void say(const std::string& text, double uptime) {
    add(Remark{.dialect = "kernel", .text = text}, uptime);
  }
  void boot(double uptime) { add(HostBooted{.kernel = "5.15"}, uptime); }

  const KernelLog& log() const { return lines.logs().front(); }

  KernelLines lines;

 private:
  void add(Fact fact, double uptime) {
    Batch batch;
    batch.speakers = {Speaker{.host = "node-0"}};
    batch.events = {{.line = ++line_,
                     .time = EventTime::since_boot(static_cast<std::int64_t>(uptime * 1e6)),
                     .fact = std::move(fact),
                     .text = "line"}};
    lines.apply(0, batch, batch.events.front());
  }
  std::uint64_t line_ = 0;
};

TEST(KernelLines, FoldLinesThatAreEqualButForNumbersThatVary) {
  Log log;
  for (int i = 0; i < 100; ++i)
    log.say("EDAC MC0: 1 CE on DIMM#0 (page:0x" + std::to_string(1000 + i) + ")", 400 + i);
  ASSERT_EQ(log.log().texts.size(), 1U);
  const KernelText& text = log.log().texts.front();
  EXPECT_EQ(text.count, 100U);
  EXPECT_EQ(text.sayings.size(), 8U);
  EXPECT_EQ(text.first().line.line, 1U);
  EXPECT_EQ(text.last().line.line, 100U);
}

TEST(KernelLines, KeepPartsAndVictimsApart) {
  Log log;
  log.say("pcieport 0000:0a:01.0: AER: Corrected error received: 0000:10:00.0", 400);
  log.say("pcieport 0000:0a:01.0: AER: Corrected error received: 0000:11:00.0", 400);
  log.say("Out of memory: Killed process 41310 (python3)", 400);
  log.say("Out of memory: Killed process 41311 (python3)", 400);
  EXPECT_EQ(log.log().texts.size(), 4U);
}

TEST(KernelLines, ThatCountAreOneTextAndNamesStay) {
  Log log;
  for (int i = 0; i < 20; ++i)
    log.say(
        "CPU41: Package temperature is above threshold (total events = " + std::to_string(i) + ")",
        400);
  EXPECT_EQ(log.log().texts.size(), 1U);
  log.say("mlx5_0: Port: 1 Link DOWN", 400);
  log.say("mlx5_0: Port: 2 Link DOWN", 400);
  log.say("mlx5_1: Port: 1 Link DOWN", 400);
  log.say("nfs: server 10.0.4.7 OK", 400);
  log.say("nfs: server 10.0.4.8 OK", 400);
  log.say("python3[51877]: segfault at 0", 400);
  log.say("python3[51878]: segfault at 0", 400);
  log.say("INFO: task python3:41301 blocked for more than 120 seconds.", 400);
  log.say("INFO: task python3:41301 blocked for more than 241 seconds.", 500);
  EXPECT_EQ(log.log().texts.size(), 9U);
}

TEST(KernelLines, CountTheMostInASpanOfTime) {
  Log log;
  for (int i = 0; i < 30; ++i) log.say("x", 1000 + 10 * i);
  for (int i = 0; i < 30; ++i) log.say("x", 9000 + i);
  const auto& busiest = log.log().texts.front().busiest;
  EXPECT_EQ(busiest[0].most, 30U);
  EXPECT_EQ(busiest[1].most, 30U);
  EXPECT_EQ(busiest[2].most, 60U);
}

TEST(KernelLines, AnUptimeThatFallsIsANewBoot) {
  Log log;
  log.say("x", 90'000);
  log.say("x", 12);
  EXPECT_EQ(log.log().boot, 1U);
  EXPECT_EQ(log.log().texts.size(), 2U) << "equal lines of two boots are two";
  ASSERT_EQ(log.log().boots.size(), 1U);
  EXPECT_TRUE(log.log().boots.front().log_goes_back);
}

TEST(KernelLines, LinesThatComeALittleOutOfOrderAreOfOneBoot) {
  Log log;
  log.say("x", 500);
  log.say("x", 480);
  EXPECT_EQ(log.log().boot, 0U);
}

TEST(KernelLines, ABannerAndAFallOfTheUptimeAreOneBoot) {
  Log log;
  log.say("x", 90'000);
  log.boot(0);
  log.boot(0.1);
  log.say("x", 12);
  EXPECT_EQ(log.log().boot, 1U);
}

TEST(KernelLines, ALogThatBeginsWithABootDoesNotGoBackBehindIt) {
  Log log;
  log.boot(0);
  log.say("x", 12);
  ASSERT_EQ(log.log().boots.size(), 1U);
  EXPECT_FALSE(log.log().boots.front().log_goes_back);
}

}  // namespace
}  // namespace faultline
