#include "parsers/kernel/kernel_xid.h"

#include <gtest/gtest.h>

#include "model/json.h"

namespace faultline {
namespace {

struct Case {
  const char* why;
  std::string text;
  std::vector<Fact> expected;
};

std::string in_words(const std::vector<Fact>& facts) {
  std::string words;
  for (const Fact& fact : facts) words.append(kind_of(fact)) += " " + fact_to_json(fact) + "\n";
  return words;
}

using Parse = bool (*)(std::string_view, std::vector<Reading>&);

void expect_all(Parse parse, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    std::vector<Reading> readings;
    parse(c.text, readings);
    std::vector<Fact> facts;
    for (const Reading& reading : readings) facts.push_back(reading.fact);
    EXPECT_EQ(in_words(facts), in_words(c.expected)) << c.text;
  }
}

constexpr const char* kGpu = "0000:3b:00.0";

TEST(KernelXid, ReadsTheGpuInEverySpellingOfTheDriver) {
  const auto ch = [](GpuXid xid) {
    xid.code = 43;
    xid.detail = "Ch 00000008";
    return xid;
  };
  expect_all(
      parse_nvrm,
      {
          {"a whole GPU", "NVRM: Xid (PCI:0000:3b:00): 43, Ch 00000008", {ch({.gpu = kGpu})}},
          {"drivers before 300 print no PCI:",
           "NVRM: Xid (0000:3b:00): 43, Ch 00000008",
           {ch({.gpu = kGpu})}},
          {"with its function",
           "NVRM: Xid (PCI:0000:3b:00.0): 43, Ch 00000008",
           {ch({.gpu = kGpu})}},
          {"upper case", "NVRM: Xid (PCI:0000:3B:00): 43, Ch 00000008", {ch({.gpu = kGpu})}},
          {"a domain of its own, as on Grace",
           "NVRM: Xid (PCI:0009:01:00): 43, Ch 00000008",
           {ch({.gpu = "0009:01:00.0"})}},
          {"a domain over ffff, as behind VMD or Hyper-V",
           "NVRM: Xid (PCI:10000:01:00): 43, Ch 00000008",
           {ch({.gpu = "10000:01:00.0"})}},
          {"a domain of eight digits",
           "NVRM: Xid (PCI:0a1b2c3d:01:00): 43, Ch 00000008",
           {ch({.gpu = "a1b2c3d:01:00.0"})}},
          {"a MIG GPU instance",
           "NVRM: Xid (PCI:0000:3b:00 GPU-I:09): 43, Ch 00000008",
           {ch({.gpu = kGpu, .gpu_instance = 9})}},
          {"a MIG compute instance",
           "NVRM: Xid (PCI:0000:3b:00 GPU-I:02 GPU-CI:00): 43, Ch 00000008",
           {ch({.gpu = kGpu, .gpu_instance = 2, .compute_instance = 0})}},
      });
}

TEST(KernelXid, ReadsTheProcessInTheFormOfEveryDriver) {
  const auto ch = [](std::optional<std::int64_t> pid, std::string process) {
    return GpuXid{.gpu = kGpu,
                  .code = 43,
                  .pid = pid,
                  .process = std::move(process),
                  .detail = "Ch 00000008"};
  };
  const std::string head = "NVRM: Xid (PCI:0000:3b:00): 43, ";
  expect_all(
      parse_nvrm,
      {
          {"460 to 510 print no name", head + "pid=41277, Ch 00000008", {ch(41277, "")}},
          {"515 and later", head + "pid=41277, name=python3, Ch 00000008", {ch(41277, "python3")}},
          {"515 to 565 quote an unknown pid but not the name",
           head + "pid='<unknown>', name=<unknown>, Ch 00000008",
           {ch({}, "")}},
          {"unknown without quotes",
           head + "pid=<unknown>, name=<unknown>, Ch 00000008",
           {ch({}, "")}},
          {"a name with colons",
           head + "pid=7, name=ray::RolloutW, Ch 00000008",
           {ch(7, "ray::RolloutW")}},
          {"a name with brackets",
           head + "pid=7, name=nvc:[driver], Ch 00000008",
           {ch(7, "nvc:[driver]")}},
          {"a name with blanks",
           head + "pid=7, name=cache mgr (x), Ch 00000008",
           {ch(7, "cache mgr (x)")}},
          {"the largest pid there is",
           head + "pid=4194304, name=a, Ch 00000008",
           {ch(4194304, "a")}},
          {"a pid too large for any number is none",
           head + "pid=99999999999999999999, name=a, Ch 00000008",
           {ch({}, "a")}},
      });
}

TEST(KernelXid, KeepsTheTextAfterTheCode) {
  const auto xid = [](int code, std::string detail, std::optional<int> caused_by = {}) {
    return GpuXid{.gpu = kGpu, .code = code, .detail = std::move(detail), .caused_by = caused_by};
  };
  const std::string head = "NVRM: Xid (PCI:0000:3b:00): ";
  expect_all(
      parse_nvrm,
      {
          {"no text", head + "62, ", {xid(62, "")}},
          {"no text, and something took the blank at the end", head + "62,", {xid(62, "")}},
          {"no text after a process",
           head + "62, pid=8, name=python3, ",
           {GpuXid{.gpu = kGpu, .code = 62, .pid = 8, .process = "python3"}}},
          {"the same without the blank",
           head + "62, pid=8, name=python3,",
           {GpuXid{.gpu = kGpu, .code = 62, .pid = 8, .process = "python3"}}},
          {"a text with commas and colons",
           head + "13, Graphics SM Warp Exception on (GPC 4, TPC 2, SM 1): Out Of Range Address",
           {xid(13, "Graphics SM Warp Exception on (GPC 4, TPC 2, SM 1): Out Of Range Address")}},
          {"a code newer than the catalog",
           head + "1234, something new",
           {xid(1234, "something new")}},
          {"45 names what it follows",
           head + "45, channel 0x00000010 caused by previous Xid 31",
           {xid(45, "channel 0x00000010", 31)}},
          {"those words in the middle of a text are text",
           head + "45, caused by previous Xid 31 perhaps",
           {xid(45, "caused by previous Xid 31 perhaps")}},
          {"NVLink 5 pads its severity and ends with a newline",
           head + "149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000)\n",
           {xid(149, "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000)")}},
          {"carriage returns of a serial console",
           head + "79, GPU has fallen off the bus.\r",
           {xid(79, "GPU has fallen off the bus.")}},
      });
}

TEST(KernelXid, FindsRecordsGluedToOthers) {
  const GpuXid lost{.gpu = kGpu, .code = 79, .detail = "GPU has fallen off the bus."};
  const GpuXid channel{.gpu = kGpu, .code = 45, .detail = "Ch 00000008"};
  GpuXid told_again = lost;
  told_again.xid_line = false;
  const std::string xid79 = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
  const std::string xid45 = "NVRM: Xid (PCI:0000:3b:00): 45, Ch 00000008";
  expect_all(
      parse_nvrm,
      {
          {"behind a foreign line that lost its newline", "foo: bar " + xid79, {lost}},
          {"directly behind one", "usb 1-1: new device" + xid79, {lost}},
          {"two Xids in one message", xid79 + xid45, {lost, channel}},
          {"two Xids in one record of several lines", xid79 + "\n" + xid45 + "\n", {lost, channel}},
          {"rsyslog's form of the same", xid79 + "#012" + xid45, {lost, channel}},
          {"an Xid and its companion",
           xid79 + "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
           {lost, told_again}},
          {"a driver line that says nothing to us in front",
           "NVRM: loading NVIDIA UNIX" + xid79,
           {lost}},
      });
}

TEST(KernelXid, KnowsAGpuThatIsGoneWithoutAnXid) {
  const auto gone = [](std::string gpu, std::string detail) {
    return GpuXid{
        .gpu = std::move(gpu), .code = 79, .detail = std::move(detail), .xid_line = false};
  };
  const std::string dead = "fallen off the bus and is not responding to commands.";
  expect_all(parse_nvrm,
             {
                 {"the line after the Xid, or instead of it",
                  "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
                  {gone(kGpu, "GPU has fallen off the bus.")}},
                 {"old drivers",
                  "NVRM: GPU at 0000:3b:00.0 has fallen off the bus.",
                  {gone(kGpu, "has fallen off the bus.")}},
                 {"dead when the driver starts: one record of three lines",
                  "NVRM: The NVIDIA GPU 0000:18:00.0\n"
                  "NVRM: (PCI ID: 10de:2901) installed in this system has\n"
                  "NVRM: " +
                      dead,
                  {gone("0000:18:00.0", dead)}},
                 {"as dmesg indents it",
                  "NVRM: The NVIDIA GPU 0000:18:00.0\n"
                  "               NVRM: (PCI ID: 10de:2901) installed in this system has\n"
                  "               NVRM: " +
                      dead + "\n",
                  {gone("0000:18:00.0", dead)}},
                 {"as rsyslog escapes it",
                  "NVRM: The NVIDIA GPU 0000:18:00.0#012NVRM: (PCI ID: 10de:2901) installed in "
                  "this system "
                  "has#012NVRM: " +
                      dead,
                  {gone("0000:18:00.0", dead)}},
                 {"the first line alone also begins other records, and only names the GPU",
                  "NVRM: The NVIDIA GPU 0000:18:00.0",
                  {GpuIdentity{.gpu = "0000:18:00.0"}}},
                 {"the last line alone does not name it", "NVRM: " + dead, {gone("", dead)}},
                 {"an unsupported GPU is not a dead one",
                  "NVRM: The NVIDIA GPU 0000:18:00.0 (PCI ID: 10de:1180)\n"
                  "NVRM: installed in this system is not supported by the\n"
                  "NVRM: NVIDIA 580.95.05 driver release.",
                  {}},
                 {"an unsupported GPU does not take over the end of a dead one",
                  "NVRM: The NVIDIA GPU 0000:18:00.0\n"
                  "NVRM: (PCI ID: 10de:1180) installed in this system is not supported\n"
                  "NVRM: The NVIDIA GPU 0000:3b:00.0\n"
                  "NVRM: (PCI ID: 10de:2901) installed in this system has\n"
                  "NVRM: " +
                      dead,
                  {GpuIdentity{.gpu = "0000:18:00.0"}, gone(kGpu, dead)}},
             });
}

TEST(KernelXid, ReadsWhatIdentifiesAGpu) {
  expect_all(
      parse_nvrm,
      {
          {"the UUID, before a GPU's first Xid",
           "NVRM: GPU at PCI:0000:3b:00: GPU-5d0e11aa-0a3c-4d8e-9c77-1f21c0de0042",
           {GpuIdentity{.gpu = kGpu, .uuid = "GPU-5d0e11aa-0a3c-4d8e-9c77-1f21c0de0042"}}},
          {"the board's serial number on the next line",
           "NVRM: GPU Board Serial Number: 1652823055814",
           {GpuIdentity{.serial = "1652823055814"}}},
          {"the serial number after a loss names the GPU",
           "NVRM: GPU 0000:3b:00.0: GPU serial number is 1652823055814.",
           {GpuIdentity{.gpu = kGpu, .serial = "1652823055814"}}},
          {"a UUID that somebody elided", "NVRM: GPU at PCI:0000:3b:00: GPU-5d0e11aa-...", {}},
          {"a UUID that was cut off", "NVRM: GPU at PCI:0000:3b:00: GPU-5d0e11aa-0a3c", {}},
          {"no serial number", "NVRM: GPU Board Serial Number: ", {}},
          {"a serial number that is a sentence", "NVRM: GPU Board Serial Number: not set", {}},
      });
}

TEST(KernelXid, TellsThatTheDriverWasLoaded) {
  expect_all(
      parse_nvrm,
      {
          {"the open module",
           "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build",
           {GpuDriver{.loaded = true, .version = "580.95.05"}}},
          {"the other one",
           "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32",
           {GpuDriver{.loaded = true, .version = "535.129.03"}}},
          {"cut before its version",
           "NVRM: loading NVIDIA UNIX x86_64 Ker",
           {GpuDriver{.loaded = true}}},
      });
}

TEST(KernelXid, ReadsNoFactFromWhatIsNotOne) {
  for (const char* text : {
           "NVRM: Xid (PCI:0000:3b:00): 7",  // cut off: half of a 79
           "NVRM: Xid (PCI:0000:3b:00): ",
           "NVRM: Xid (PCI:0000:3b:00):",
           "NVRM: Xid (PCI:0000:3b",
           "NVRM: Xid (PCI:0000:3b:00 GPU-I:): 31, x",
           "NVRM: Xid (PCI:0000:3b:00 GPU-I:1 GPU-CI:x): 31, x",
           "NVRM: Xid (PCI:0000:3b:00 GPU-I:99999999999): 31, x",
           "NVRM: Xid (): 31, x",
           "NVRM: Xid (PCI:zzzz:3b:00): 31, x",
           "NVRM: Xid (PCI:0000:3b:00): 99999999999, x",
           "NVRM: Xid (PCI:0000:3b:00): -79, x",
           "NVRM: Xid",
           "NVRM: ",
           "NVRM: GPU ",
           "NVRM: GPU at ",
           "NVRM: GPU at PCI:",
           "NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x62:0x40:2193)",
           "NVRM: GPU4 RPC history (CPU -> GSP):",
           "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:db:00 (printing 1 of "
           "every 30).",
       }) {
    std::vector<Reading> readings;
    EXPECT_TRUE(parse_nvrm(text, readings)) << text << ": still the kernel's dialect";
    EXPECT_TRUE(readings.empty()) << text;
  }
  for (const char* text :
       {"", "NVRM", "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 12028, Non-fatal",
        "Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."}) {
    std::vector<Reading> readings;
    EXPECT_FALSE(parse_nvrm(text, readings)) << text;
    EXPECT_TRUE(readings.empty()) << text;
  }
}

TEST(KernelXid, DoesNotTrustAProcessThatWasCutOff) {
  const std::string head = "NVRM: Xid (PCI:0000:3b:00): 43, ";
  const GpuXid nothing_more{.gpu = kGpu, .code = 43};
  expect_all(parse_nvrm, {
                             {"the pid may have had more digits", head + "pid=412", {nothing_more}},
                             {"nothing of the pid", head + "pid=", {nothing_more}},
                             {"the name may have been longer",
                              head + "pid=41277, name=pyth",
                              {GpuXid{.gpu = kGpu, .code = 43, .pid = 41277}}},
                         });
}

TEST(KernelXid, ReadsEveryRecordOfALineOfAMebibyte) {
  const std::string record = "NVRM: Xid (PCI:0000:3b:00): 1,";
  std::string text;
  while (text.size() < (std::size_t{1} << 20)) text += record;
  std::vector<Reading> readings;
  EXPECT_TRUE(parse_nvrm(text, readings));
  EXPECT_EQ(readings.size(), text.size() / record.size());
}

TEST(KernelBoot, ReadsTheBannerOfABoot) {
  expect_all(
      parse_boot,
      {
          {"any kernel",
           "Linux version 5.15.0-91-generic (builder@host) (gcc 11.4.0, GNU ld 2.38) #101-Ubuntu "
           "SMP",
           {HostBooted{.kernel = "5.15.0-91-generic"}}},
          {"cut after the version",
           "Linux version 6.8.0-1015-nvidia",
           {HostBooted{.kernel = "6.8.0-1015-nvidia"}}},
          {"Arm's first line",
           "Booting Linux on physical CPU 0x0000000000 [0x410fd4f0]",
           {HostBooted{}}},
          {"somebody quotes it", "node says: Linux version 5.15.0-91-generic (x@y) #1 SMP", {}},
          {"prose", "Linux version of this package is older", {}},
          {"no version", "Linux version ", {}},
          {"another line with the hint", "systemd[1]: Detected Debian GNU/Linux 12.", {}},
      });
}

}  // namespace
}  // namespace faultline
