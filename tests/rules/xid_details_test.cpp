#include "rules/knowledge/xid_details.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/knowledge/catalog.h"
#include "rules/knowledge/catalog_files.h"

namespace faultline {
namespace {

using testing::HasSubstr;

const Catalog& shipped() {
  static const Catalog catalog = load_catalog();
  return catalog;
}

XidReading read(int code, std::string_view detail) {
  return read_xid(shipped(), *shipped().xid(code), detail);
}

TEST(XidDetails, TakeNvlinkTextsApart) {
  const XidWords hopper = words_of(
      74, "NVLink: fatal error detected on link 14(0x10, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)");
  EXPECT_EQ(hopper.link, 14);
  EXPECT_EQ(hopper.words, (std::vector<std::uint64_t>{0x10, 0, 0x10000, 0, 0, 0, 0}));

  const XidWords now = words_of(
      149, "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000 0x0 0x0)");
  EXPECT_EQ(now.unit, "NETIR_LINK_EVT");
  EXPECT_EQ(now.printed, "Fatal");
  EXPECT_EQ(now.link, 8);
  EXPECT_EQ(now.words.size(), 5U);
  EXPECT_FALSE(now.old_layout);

  const XidWords before = words_of(149, "NETIR_LINK_EVT Fatal XC 1 i 2 Link 01 [0x0000000a]");
  EXPECT_EQ(before.link, 1);
  EXPECT_EQ(before.words, (std::vector<std::uint64_t>{10}));
  EXPECT_TRUE(before.old_layout);

  EXPECT_FALSE(words_of(145, "RLW_REMAP Nonfatal XC0 i0 Link -1 (0x4 0x1)").link);
  // The last word may be cut off.
  EXPECT_EQ(words_of(149, "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x000").words.size(),
            1U);
  EXPECT_EQ(words_of(154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)")
                .recovery,
            "Drain and Reset");
  EXPECT_EQ(words_of(154, "GPU recovery action changed from 0x0 (None)").recovery, "");
}

TEST(XidDetails, SayWhatTheTextAddsToTheCode) {
  struct Case {
    int code;
    const char* detail;
    const char* cause;
    Severity severity;
    bool echo;
    const char* says;
  };
  const std::string link = "NETIR_LINK_EVT  Fatal   XC0 i0 Link 08 ";
  const auto event = [&](const char* words) { return link + words; };
  const std::string signal = event("(0x004505c6 0x0 0x0 0x0 0x0)");
  const std::string peer = event("(0x021425c6 0x0 0x0 0x0 0x0)");
  const std::string sympathetic = event("(0x00000086 0x0 0x0 0x0 0x0)");
  const std::string software = event("(0x00f001c6 0x0 0x0 0x0 0x0)");
  const Case cases[] = {
      {74, "NVLink: fatal error detected on link 3(0x10, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
       "gpu.nvlink_error", Severity::critical, false, "link 3: an ECC or parity error"},
      {74, "NVLink: fatal error detected on link 3(0x200000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
       "gpu.nvlink_error", Severity::error, false, "link 3: the link's signal is marginal"},
      {74, "NVLink: fatal error detected on link 3(0x2, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
       "gpu.nvlink_error", Severity::warning, true, "follows from another error"},
      {74, "NVLink: failed to train link 4 to remote PCI:0000:4a:00", "gpu.nvlink_error",
       Severity::critical, false, "link 4: the link could not be trained"},
      {149, signal.c_str(), "gpu.nvlink_error", Severity::critical, false, "signal failed"},
      {149, peer.c_str(), "gpu.nvlink_error", Severity::warning, true,
       "the device at the other end"},
      {149, sympathetic.c_str(), "gpu.nvlink_error", Severity::warning, true, "the other end"},
      {149, software.c_str(), "gpu.nvlink_error", Severity::warning, true, "somebody took"},
      {145, "RLW_REMAP Nonfatal XC0 i0 Link -1 (0x00000004 0x00000001 0x0 0x0 0x0)", "gpu.teardown",
       Severity::warning, true, "a program that crashed"},
      {145, "RLW_REMAP Fatal XC0 i0 Link -1 (0x00000004 0x00000040 0x0 0x0 0x0)",
       "gpu.nvlink_error", Severity::critical, false, "a fatal hardware error"},
      {150, "MSE_WATCHDOG Fatal XC0 i0 Link -1 (0x1 0x0)", "gpu.nvlink_error", Severity::critical,
       false, "watchdog"},
      {64, "Row Remapper Error: (0x0000001180040000) - All reserved rows for bank are remapped",
       "gpu.row_remap", Severity::critical, false, "no spare rows are left"},
      {64, "Row Remapper: (0x11) - Attempting to remap a row that is already pending remapping.",
       "gpu.row_remap", Severity::warning, false, "needs only the reset"},
      {94, "Contained: SM (0x1). RST: Yes, D-RST: No", "gpu.ecc_uncorrectable", Severity::error,
       false, "asks for a reset"},
      {94, "Contained: SM (0x1). RST: No, D-RST: Yes", "gpu.ecc_uncorrectable", Severity::error,
       false, "drain the GPU and reset it"},
      {120, "Poison error in GSP.", "gpu.ecc_uncorrectable", Severity::critical, false,
       "a memory error reached the firmware"},
      {31,
       "Ch 00000002, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC0 faulted @ 0x7f21_ac000000. "
       "Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
       "software.gpu_memory_fault", Severity::error, false, "never mapped"},
      {79, "GPU has fallen off the bus.", "gpu.off_bus", Severity::critical, false, ""},
      {71, "NVLink: fatal error detected on link 6", "gpu.nvlink_error", Severity::error, false,
       "link 6: the text names an NVLink"},
      {13, "NVLink: failed to train link 2 to remote PCI:0000:4a:00", "gpu.nvlink_error",
       Severity::error, false, "link 2: the text names an NVLink"},
      {79, "NVLink: fatal error detected on link 6", "gpu.off_bus", Severity::critical, false,
       "link 6"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.detail);
    const XidReading reading = read(c.code, c.detail);
    EXPECT_EQ(reading.cause, c.cause);
    EXPECT_EQ(reading.severity, c.severity);
    EXPECT_EQ(reading.echo, c.echo);
    EXPECT_THAT(reading.says, HasSubstr(c.says));
  }
}

TEST(XidDetails, TellNothingFromALayoutWhoseBitsAreNotKnown) {
  const XidReading reading = read(149, "NETIR_LINK_EVT Fatal XC 1 i 2 Link 01 [0x00000086]");
  EXPECT_FALSE(reading.echo);
  EXPECT_EQ(reading.says, "link 1");
}

TEST(XidDetails, SayWhatTheDriverWantsDone) {
  for (const char* action : {"None", "GPU Reset Required", "Node Reboot Required", "Drain P2P",
                             "Drain and Reset", "Recover IMEX Domain"})
    EXPECT_NE(read(154, std::string("GPU recovery action changed from 0x0 (None) to 0x1 (") +
                            action + ")")
                  .action,
              "")
        << action;
}

TEST(XidDetails, AreRefusedWithTheLineAndTheMend) {
  const std::string head = "codes,units,field,values,class,severity,impact,weight,meaning,action\n";
  const auto complaint = [&](const std::string& text) -> std::string {
    try {
      read_xid_details("xid_details.csv", text);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint(head + "74,,bits,4 5,,,,cause,hardware,look\n"), "none");
  EXPECT_THAT(complaint("code\n"), HasSubstr("xid_details.csv:1: the first line must be codes,"));
  EXPECT_THAT(complaint(head + "74,,bits,four,,,,cause,x,\n"), HasSubstr(":2: \"four\" is not a"));
  EXPECT_THAT(complaint(head + "74,,bit,4,,,,cause,x,\n"),
              HasSubstr(":2: field \"bit\" is unknown"));
  EXPECT_THAT(complaint(head + "74,,bits,4,,,,maybe,x,\n"), HasSubstr("weight \"maybe\""));
  EXPECT_THAT(complaint(head + "74,,bits,4,,,,cause,,\n"), HasSubstr("has no meaning"));
}

}  // namespace
}  // namespace faultline
