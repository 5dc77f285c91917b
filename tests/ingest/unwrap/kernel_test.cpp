#include "ingest/unwrap/kernel.h"

#include <gtest/gtest.h>

#include "unwrapping.h"

namespace faultline {
namespace {

const char kXid[] = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
const std::string kText = kXid;

TEST(KernelFramings, GiveTheMessageAndWhatTheyKnowOfItsTime) {
  const Told uptime{.text = kText, .uptime_us = 8423118204};
  const Told second{.text = kText, .wall = "~2026-03-05T02:47:11Z+1000000"};
  const Told exact{.text = kText, .wall = "2026-03-05T02:47:11.123456Z"};
  const Told program{.text = kText, .from_user_space = true, .uptime_us = 8423118204};
  const UnwrapCase cases[] = {
      {"F1 dmesg", "[ 8423.118204] " + kText, uptime},
      {"F1 padded", "[   12.345678] " + kText, {.text = kText, .uptime_us = 12345678}},
      {"F1 rounded by a person",
       "[8423.12] NVRM: Xid (PCI:0000:41:00): 79, pid=1",
       {.text = "NVRM: Xid (PCI:0000:41:00): 79, pid=1", .uptime_us = 8423120000}},
      {"F1 up for weeks", "[6781741.548768] " + kText, {.text = kText, .uptime_us = 6781741548768}},
      {"F2 dmesg -T", "[Thu Mar  5 02:47:11 2026] " + kText, second},
      {"F2 in Portuguese", "[Qui Mar 05 02:47:11 2026] " + kText, second},
      {"F2 in German", "[Do Mär  5 02:47:11 2026] " + kText, second},
      {"F3 dmesg --time-format iso", "2026-03-05T02:47:11,123456+00:00 " + kText, exact},
      {"F3 in another zone", "2026-03-05T03:47:11,123456+01:00 " + kText, exact},
      {"F4 dmesg -x", "kern  :warn  : [ 8423.118204] " + kText, uptime},
      {"F4 with iso", "kern  :warn  : 2026-03-05T02:47:11,123456+00:00 " + kText, exact},
      {"F4 with -T", "kern  :err   : [Thu Mar  5 02:47:11 2026] " + kText, second},
      {"F4 a program's", "daemon:info  : [ 8423.118204] " + kText, program},
      {"F4 a long facility", "authpriv:notice: [ 8423.118204] " + kText, program},
      {"a priority in words", "kern.err: [ 8423.118204] " + kText, uptime},
      {"F4 without a time", "kern  :warn  : " + kText, {.text = kText}},
      {"F5 dmesg -r", "<4>[ 8423.118204] " + kText, uptime},
      {"F5 a program's", "<30>[ 8423.118204] " + kText, program},
      {"F8 dmesg -d", "[ 8423.118204 <    0.000123>] " + kText, uptime},
      {"F8 -d with -T", "[Thu Mar  5 02:47:11 2026 <    0.000123>] " + kText, second},
      {"F8 delta alone", "[<    0.000123>] " + kText, {.text = kText}},
      {"F9 kmsg", "4,20931,8423118204,-;" + kText, uptime},
      {"F9 with a caller", "4,20931,8423118204,-,caller=T4127;" + kText, uptime},
      {"F9 a program's", "30,20931,8423118204,-;" + kText, program},
      {"F9 escapes",
       "6,1,5,-;a\\x09b \\x5cx41 \\xZZ",
       {.text = "a\tb \\x41 \\xZZ", .uptime_us = 5}},
      {"F9 a fragment", "4,7,5,c;" + kText, {.text = kText, .uptime_us = 5}},
      {"F9 its continuation", "4,8,5,+;" + kText, {.text = kText, .uptime_us = 5}},
      {"F9 a continuation with a caller",
       "4,8,5,+,caller=C12;" + kText,
       {.text = kText, .uptime_us = 5}},
      {"F10 short-monotonic",
       "[ 8423.118204] gpu-node-17 kernel: " + kText,
       {.text = kText, .host = "gpu-node-17", .uptime_us = 8423118204}},
      {"F4 with a caller", "kern  :warn  : [ 8423.118204] [   T4127] " + kText, uptime},
      {"F5 with a caller", "<4>[ 8423.118204][ T4127] " + kText, uptime},
      {"F15 dmesg with a caller", "[ 8423.118204] [   T4127] " + kText, uptime},
      {"F15 console with a caller", "[ 8423.118204][ T4127] " + kText, uptime},
      {"F15 in interrupt context", "[ 8423.118204][   C12] " + kText, uptime},
      {"F18 serial console", "[ 8423.118204] " + kText + "\r", uptime},
      {"F18 with colours", "\x1b[32m[ 8423.118204] \x1b[0m\x1b[1m" + kText + "\x1b[0m", uptime},
      {"talosctl dmesg",
       "10.0.4.7: kern: warning: [2026-03-05T02:47:11.123456789Z]: " + kText,
       {.text = kText, .host = "10.0.4.7", .wall = "2026-03-05T02:47:11.123456Z"}},
      {"talosctl dmesg, a program's",
       "gpu-7: daemon: info: [2026-03-05T02:47:11.123456789Z]: " + kText,
       {.text = kText,
        .host = "gpu-7",
        .from_user_space = true,
        .wall = "2026-03-05T02:47:11.123456Z"}},
      {"syslog whose stamp and host were cut off", "kernel: [ 8423.118204] " + kText, uptime},
      {"a sentence about the kernel", "kernel: is it loaded?", {.text = "kernel: is it loaded?"}},
      {"F18 with the collector's stamp",
       "2026-03-05T02:47:11.123456Z [ 8423.118204] " + kText,
       {.text = kText, .wall = "2026-03-05T02:47:11.123456Z", .uptime_us = 8423118204}},
      {"the message keeps its indentation",
       "[ 8423.118204]   GPU 0",
       {.text = "  GPU 0", .uptime_us = 8423118204}},
  };
  for (const UnwrapCase& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(unwrap_one(c.line), c.expected);
  }
}

TEST(KernelFramings, LeaveAloneWhatOnlyResemblesThem) {
  for (const char* line : {
           "[Firmware Bug]: TSC doesn't count",
           "[12.5] a program's own stopwatch",
           "[8423.1182041] NVRM: more digits than any kernel prints",
           "[8423] NVRM: no point",
           "[12.5] nvidia-smi took this long",
           "[3.14] Out of 100 samples 3 were cut",
           "[0.98] ice is a model of clouds",
           "[1772678831.123456] [node7:4242:0] ucp_context.c:1 a library's stamp since 1970",
           "[ 8423.118204",
           "[",
           "[Thu Mar  5 02:47:11",
           "[Feb 27 2025 11:16:35] [INFO] [tid 1808] released a multicast team",
           "<nil>",
           "<4",
           "<192>beyond the last facility",
           "4,20931,8423118204",
           "4,20931,8423118204,-",
           "1,2,3,4;not a flag",
           "kern  :loud  : msg",
           "Panic#1 Part",
           "nvidia-nvswitch2: SXid (PCI:0000:c8:00.0): 20034, Fatal",
           "mlx5_0: Port: 1 Link DOWN",
       }) {
    EXPECT_EQ(unwrap_one(line), Told{.text = line});
  }
}

TEST(KernelFramings, ARecordOfSeveralLinesBecomesSeveralMessages) {
  EXPECT_EQ(unwrap_all({"4,1,70,-;NVRM: The NVIDIA GPU 0000:3b:00.0\\x0aNVRM: fallen off\\x0a"}),
            (std::vector<Told>{{.text = "NVRM: The NVIDIA GPU 0000:3b:00.0", .uptime_us = 70},
                               {.text = "NVRM: fallen off", .uptime_us = 70}}));
}

TEST(KernelFramings, AKmsgDictionaryIsSwallowedOnlyBehindARecord) {
  EXPECT_EQ(unwrap_all({" SUBSYSTEM=pci", "6,1,5,-;pci found", " SUBSYSTEM=pci",
                        " DEVICE=+pci:0000:3b:00.0", "6,2,6,-;next", "plain", " SUBSYSTEM=pci"}),
            (std::vector<Told>{{.text = " SUBSYSTEM=pci"},
                               {.text = "pci found", .uptime_us = 5},
                               {.text = "next", .uptime_us = 6},
                               {.text = "plain"},
                               {.text = " SUBSYSTEM=pci"}}));
}

TEST(KernelFramings, RelativeStampsCountOnFromTheMinute) {
  EXPECT_EQ(unwrap_all({"[  +0.100000] before any minute", "[Mar 5 02:47] one", "[  +0.543751] two",
                        "[ +10.000000] three", "[Feb15 02:48] four", "[  +99.000000] beyond"}),
            (std::vector<Told>{{.text = "before any minute"},
                               {.text = "one", .wall = "~2026-03-05T02:47:00Z+60000000"},
                               {.text = "two", .wall = "~2026-03-05T02:47:00.543751Z+59456249"},
                               {.text = "three", .wall = "~2026-03-05T02:47:10.543751Z+49456249"},
                               {.text = "four", .wall = "~2026-02-15T02:48:00Z+60000000"},
                               {.text = "beyond", .wall = "~2026-02-15T02:49:00Z"}}));
}

TEST(KernelFramings, PstoreHeadersAreSwallowed) {
  EXPECT_EQ(unwrap_all({"Panic#1 Part2", "<4>[12345.678901] " + kText, "Oops#3 Part1"}),
            (std::vector<Told>{{.text = kText, .uptime_us = 12345678901}}));
}

TEST(KernelFramings, PartsOfACrashStayInTheOrderOfTheFileWithTheirUptimes) {
  EXPECT_EQ(unwrap_all({"Panic#1 Part1", "<4>[  200.000000] last words", "Panic#1 Part2",
                        "<4>[  100.000000] " + kText}),
            (std::vector<Told>{{.text = "last words", .uptime_us = 200'000'000},
                               {.text = kText, .uptime_us = 100'000'000}}));
}

TEST(KernelFramings, AMessageOfTheKernelHasNoLaunchersLabel) {
  for (const char* message : {"3: an item of a list", "[rank3]: pasted", "> quoted", "RANK3: x"})
    EXPECT_EQ(unwrap_one("[    1.000000] " + std::string(message)),
              (Told{.text = message, .uptime_us = 1'000'000}));
}

}  // namespace
}  // namespace faultline
