#include "parsers/kernel/kernel_sxid.h"

#include <gtest/gtest.h>

#include "parsed_lines.h"

namespace faultline {
namespace {

using Case = ParsedLine<SwitchError>;

SwitchError told(SwitchError error) {
  error.nvswitch = "0000:c1:00.0";
  error.teller = "driver";
  return error;
}

TEST(KernelSxid, ReadsEveryFormOfTheDriver) {
  const std::string head = "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): ";
  expect_all<SwitchError>(
      parse_sxid,
      {
          {"an error of a link",
           head + "12028, Non-fatal, Link 32 egress non-posted PRIV error (First)",
           {told({.code = 12028,
                  .printed = "Non-fatal",
                  .link = 32,
                  .detail = "egress non-posted PRIV error (First)"})}},
          {"its severity",
           head + "12028, Severity 0 Engine instance 32 Sub-engine instance 00",
           {told({.code = 12028,
                  .detail = "Severity 0 Engine instance 32 Sub-engine instance 00",
                  .goes_on = true})}},
          {"its registers",
           head + "12028, Data {0x00000000, 0x00000001}",
           {told({.code = 12028, .detail = "Data {0x00000000, 0x00000001}", .goes_on = true})}},
          {"an error of no link",
           head + "10001, Fatal, Unexpected PRI error, instance=3, chiplet=1",
           {told({.code = 10001,
                  .printed = "Fatal",
                  .detail = "Unexpected PRI error, instance=3, chiplet=1"})}},
          {"no word for how bad it is",
           head + "10004, NVSWITCH Temperature 96C | TSENSE WARN Threshold 95C",
           {told(
               {.code = 10004, .detail = "NVSWITCH Temperature 96C | TSENSE WARN Threshold 95C"})}},
          {"a corrected one",
           head + "20001, Correctable, Link 07 TX Replay Error",
           {told(
               {.code = 20001, .printed = "Correctable", .link = 7, .detail = "TX Replay Error"})}},
          {"two records on one line, and a carriage return",
           head + "20034, Fatal, Link 30 LTSSM Fault Up" + head +
               "20034, Fatal, Link 31 LTSSM Fault Up\r",
           {told({.code = 20034, .printed = "Fatal", .link = 30, .detail = "LTSSM Fault Up"}),
            told({.code = 20034, .printed = "Fatal", .link = 31, .detail = "LTSSM Fault Up"})}},
          {"tabs for blanks",
           "nvidia-nvswitch0: SXid (PCI:0000:C1:00.0):\t24007,\tFatal, Link 12 sourcetrack",
           {told({.code = 24007, .printed = "Fatal", .link = 12, .detail = "sourcetrack"})}},
      });
}

TEST(KernelSxid, MakesNothingOfWhatIsCutOrOnlyResembles) {
  expect_all<SwitchError>(
      parse_sxid, {
                      {"cut in the code", "nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 120", {}},
                      {"cut in the address", "nvidia-nvswitch0: SXid (PCI:0000:c1", {}},
                      {"no address", "SXid (here): 12028, Fatal, x", {}},
                      {"benign", "nvidia-nvswitch2: open (major=510)", {}},
                      {"an Xid", "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", {}},
                      {"nothing", "", {}},
                  });
}

TEST(KernelSxid, ReadsWhatTheFabricManagerDetected) {
  const auto detected = [](int code, std::string printed, int port, std::string detail) {
    return SwitchError{.nvswitch = "0000:86:00.0",
                       .code = code,
                       .printed = std::move(printed),
                       .link = port,
                       .detail = std::move(detail),
                       .teller = "fabric_manager"};
  };
  const std::string fatal =
      "detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 "
      "physical id 3 port 33";
  const std::string survived =
      "detected NVSwitch non-fatal error 12028 on fid 0 on NVSwitch pci bus id 00000000:86:00.0 "
      "physical id 3 port 61";
  expect_all<SwitchError>(
      parse_fabric_manager,
      {
          {"in its own log",
           "[Mar 05 2026 02:47:12] [ERROR] [tid 841] " + fatal,
           {detected(20034, "Fatal", 33, fatal)}},
          {"in the journal", survived, {detected(12028, "Non-fatal", 61, survived)}},
          {"no address", "detected NVSwitch fatal error 20034 on fid 0", {}},
          {"another line", "multicast group 3 is allocated.", {}},
      });
  std::vector<Reading> readings;
  parse_fabric_manager("[Mar 05 2026 02:47:12] [ERROR] [tid 841] " + fatal, readings);
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings[0].time, parse_rfc3339("2026-03-05T02:47:12Z"));
}

}  // namespace
}  // namespace faultline
