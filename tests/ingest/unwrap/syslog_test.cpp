#include "ingest/unwrap/syslog.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

TEST(SyslogFramings, GiveHostTimeAndWhetherTheKernelSpeaks) {
  const Told kernel{.text = "msg", .host = "gpu-node-17", .wall = "~2026-03-05T02:47:11Z+1000000"};
  const Told exact{.text = "msg", .host = "gpu-node-17", .wall = "2026-03-05T02:47:11.123456Z"};
  const Told second{.text = "msg", .host = "gpu-node-17", .wall = "2026-03-05T02:47:11Z+1000000"};
  Told program = kernel;
  program.from_user_space = true;
  Told exact_program = exact;
  exact_program.from_user_space = true;
  Told with_uptime = kernel;
  with_uptime.uptime_us = 12345678901;
  Told exact_with_uptime = exact;
  exact_with_uptime.uptime_us = 12345678901;
  const UnwrapCase cases[] = {
      {"F10 short", "Mar 05 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F10 a program", "Mar 05 02:47:11 gpu-node-17 python3[4242]: msg", program},
      {"F10 short-iso", "2026-03-05T02:47:11+0000 gpu-node-17 kernel: msg", second},
      {"F10 short-iso, newer", "2026-03-05T02:47:11+00:00 gpu-node-17 kernel: msg", second},
      {"F10 short-precise",
       "Mar 05 02:47:11.123456 gpu-node-17 kernel: msg",
       {.text = "msg", .host = "gpu-node-17", .wall = "~2026-03-05T02:47:11.123456Z"}},
      {"F10 short-monotonic",
       "[12345.678901] gpu-node-17 kernel: msg",
       {.text = "msg", .host = "gpu-node-17", .uptime_us = 12345678901}},
      {"F10 short-monotonic, a program",
       "[12345.678901] gpu-node-17 sshd[1]: msg",
       {.text = "msg", .host = "gpu-node-17", .from_user_space = true, .uptime_us = 12345678901}},
      {"short-full", "Thu 2026-03-05 02:47:11 UTC gpu-node-17 kernel: msg", second},
      {"short-full elsewhere", "Thu 2026-03-05 02:47:11 CET gpu-node-17 kernel: msg", kernel},
      {"short-unix", "1772678831.123456 gpu-node-17 kernel: msg", exact},
      {"a switch's level before its program",
       "Mar 05 02:47:11 leaf-3 NOTICE swss#orchagent: :- msg",
       {.text = ":- msg",
        .host = "leaf-3",
        .from_user_space = true,
        .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"a switch's mnemonic where others have a program",
       "Mar 05 02:47:11 leaf-3 %LINK-3-UPDOWN: msg",
       {.text = "%LINK-3-UPDOWN: msg",
        .host = "leaf-3",
        .from_user_space = true,
        .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"a switch's own buffer, its clock not set",
       "*Mar 05 02:47:11.123: %LINK-3-UPDOWN: msg",
       {.text = "%LINK-3-UPDOWN: msg",
        .from_user_space = true,
        .wall = "~2026-03-05T02:47:11.123Z+1000"}},
      {"a mnemonic alone",
       "%LINK-3-UPDOWN: msg",
       {.text = "%LINK-3-UPDOWN: msg", .from_user_space = true}},
      {"no mnemonic", "%timeit: msg", {.text = "%timeit: msg"}},
      {"a console's stamp before the host",
       "[2026-03-05T02:47:11+00:00] gpu-7 kernel: msg",
       {.text = "msg", .host = "gpu-7", .wall = "2026-03-05T02:47:11Z+1000000"}},
      {"a stamp and a tab, as tools put it in front of each line",
       "2026-03-05T02:47:11Z\tmsg",
       {.text = "msg", .wall = "2026-03-05T02:47:11Z+1000000"}},
      {"a viewer's stamp",
       "[2026-03-05 02:47:11] NVRM: GPU lost",
       {.text = "NVRM: GPU lost", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"NCCL's own stamp",
       "[2026-03-05 02:47:11] node7:4242:4243 [0] NCCL INFO x",
       {.text = "[2026-03-05 02:47:11] node7:4242:4243 [0] NCCL INFO x"}},
      {"a script's, indented",
       " [2026-03-05T02:47:11.123456Z] msg",
       {.text = "msg", .wall = "2026-03-05T02:47:11.123456Z"}},
      {"a stamp without an end",
       "[2026-03-05 02:47:11: W op.cc:105] msg",
       {.text = "[2026-03-05 02:47:11: W op.cc:105] msg"}},
      {"a notebook's", "4600.0s msg", {.text = "msg"}},
      {"a notebook's, numbered", "4600.0s\t12\tmsg", {.text = "msg"}},
      {"a time in a text", "4600.0seconds of it", {.text = "4600.0seconds of it"}},
      {"F13", "Mar  5 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F13 in German", "Mär  5 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F13 in French", "mars  5 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F13 in Russian", "мар 05 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F13 in Japanese", " 3月 05 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F13 with a point",
       "févr. 05 02:47:11 gpu-node-17 kernel: msg",
       {.text = "msg", .host = "gpu-node-17", .wall = "~2026-02-05T02:47:11Z+1000000"}},
      {"no month", "step 5 02:47:11 took long", {.text = "step 5 02:47:11 took long"}},
      {"F13 with uptime", "Mar  5 02:47:11 gpu-node-17 kernel: [12345.678901] msg", with_uptime},
      {"F13 with priority", "<4>Mar  5 02:47:11 gpu-node-17 kernel: msg", kernel},
      {"F13 forged with logger", "<12>Mar  5 02:47:11 gpu-node-17 kernel: msg", program},
      {"F13 a tag without a pid", "Mar  5 02:47:11 gpu-node-17 sudo: msg", program},
      {"F13 without a host",
       "Mar  5 02:47:11 kernel: msg",
       {.text = "msg", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"F13 a stamp alone",
       "Mar  5 02:47:11 node7:4242:4243 [0] NCCL INFO x",
       {.text = "node7:4242:4243 [0] NCCL INFO x", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"F13 a host without a name",
       "Mar  5 02:47:11 localhost kernel: msg",
       {.text = "msg", .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"F14", "<4>1 2026-03-05T02:47:11.123456+00:00 gpu-node-17 kernel - - - msg", exact},
      {"F14 a program", "<30>1 2026-03-05T02:47:11.123456Z gpu-node-17 app 77 ID7 - msg",
       exact_program},
      {"F14 structured data",
       R"(<4>1 2026-03-05T02:47:11.123456Z gpu-node-17 kernel - - [a b="c \"] d"][e f="g"] msg)",
       exact},
      {"F14 with a byte order mark",
       "<4>1 2026-03-05T02:47:11.123456Z gpu-node-17 kernel - - - \xef\xbb\xbfmsg", exact},
      {"F14 nothing known", "<4>1 - - kernel - - - msg", {.text = "msg"}},
      {"rsyslog's file", "2026-03-05T02:47:11.123456+00:00 gpu-node-17 kernel: [12345.678901] msg",
       exact_with_uptime},
      {"rsyslog, a program", "2026-03-05T02:47:11.123456+00:00 gpu-node-17 sudo: msg",
       exact_program},
      {"rsyslog in UTC", "2026-03-05T02:47:11.123456Z gpu-node-17 python3[5]: msg", exact_program},
      {"repeated",
       "Mar  5 02:47:11 gpu-node-17 kernel: message repeated 3 times: [ msg]",
       {.text = "msg",
        .host = "gpu-node-17",
        .repeated = 3,
        .wall = "~2026-03-05T02:47:11Z+1000000"}},
      {"repeated, with uptime",
       "Mar  5 02:47:11 gpu-node-17 kernel: message repeated 2 times: [ [12345.678901] msg]",
       {.text = "msg",
        .host = "gpu-node-17",
        .repeated = 2,
        .wall = "~2026-03-05T02:47:11Z+1000000",
        .uptime_us = 12345678901}},
      {"repeated beyond belief",
       "message repeated 99999999999 times: [ msg]",
       {.text = "msg", .repeated = 1'000'000}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(SyslogFramings, AYearIsChosenThatBringsTheStampNearestBeforeTheReference) {
  struct Case {
    const char* reference;
    const char* stamp;
    const char* expected;
  };
  const Case cases[] = {
      {"2026-01-01T00:10:00Z", "Dec 31 23:59:00", "~2025-12-31T23:59:00Z+1000000"},
      {"2025-12-31T23:59:00Z", "Jan  1 00:10:00", "~2026-01-01T00:10:00Z+1000000"},
      {"2026-07-01T00:00:00Z", "Jul  1 00:00:00", "~2026-07-01T00:00:00Z+1000000"},
      {"2026-01-01T00:00:00Z", "Feb 29 10:00:00", "~2024-02-29T10:00:00Z+1000000"},
      {"2027-06-01T00:00:00Z", "Feb 29 10:00:00", "~2024-02-29T10:00:00Z+1000000"},
      {"2026-11-20T00:00:00Z", "Mar  5 02:47:11", "~2026-03-05T02:47:11Z+1000000"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.stamp);
    Unwrapper unwrapper(*parse_rfc3339(c.reference));
    const auto messages = unwrapper.unwrap(std::string(c.stamp) + " node kernel: msg");
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(describe(messages[0].time), c.expected);
  }
}

TEST(SyslogFramings, APrintedYearIsTheYear) {
  for (const char* day : {"Jan  1", "Feb 28", "Jul  3", "Aug  2", "Oct 16", "Dec 31"}) {
    SCOPED_TRACE(day);
    Unwrapper unwrapper(*parse_rfc3339("2026-11-20T00:00:00Z"));
    const auto messages =
        unwrapper.unwrap(fmt::format("2024 {} 23:59:59.500000 leaf3 NOTICE kernel: msg", day));
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_TRUE(describe(messages[0].time).find("2024-") != std::string::npos)
        << describe(messages[0].time);
  }
}

TEST(SyslogFramings, AFractionOfAUnixStampIsAsExactAsItHasDigits) {
  for (const auto& [stamp, wall] : {
           std::pair("1772678831.5", "2026-03-05T02:47:11.500Z+100000"),
           std::pair("1772678831.123", "2026-03-05T02:47:11.123Z+1000"),
           std::pair("1772678831.000005", "2026-03-05T02:47:11.000005Z"),
       })
    EXPECT_EQ(unwrap_one(std::string(stamp) + " node7 kernel: msg"),
              (Told{.text = "msg", .host = "node7", .wall = wall}));
}

TEST(SyslogFramings, LeaveAloneWhatOnlyResemblesThem) {
  for (const char* line : {
           "Mar  5 was a Thursday",
           "Mar 32 02:47:11 node kernel: msg",
           "May I ask",
           "Thu 2026-03-05 02:47:11",
           "1772678831.123456 seconds",
           "message repeated by nobody",
           "message repeated 3 times",
           "2026-03-05",
           "2026-03-05T02:47",
           "2026-99-05T02:47:11Z msg",
           "1 2026-03-05T02:47:11Z host app",
       }) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
}

TEST(SyslogFramings, DoNotInventAHostWhereOnlyAStampStands) {
  for (const char* text : {"RuntimeError CUDA: an illegal memory access", "NVRM: Xid",
                           "pcieport 0000:00:1d.0: AER: Corrected error"})
    EXPECT_EQ(unwrap_one("2026-03-05T02:47:11Z " + std::string(text)),
              (Told{.text = text, .wall = "2026-03-05T02:47:11Z+1000000"}));
}

}  // namespace
}  // namespace faultline
