#include "model/pci_address.h"

#include <gtest/gtest.h>

namespace faultline {
namespace {

struct Case {
  const char* why;
  const char* text;
  std::optional<std::string> expected;
};

TEST(PciAddress, IsReadFromNcclsBusId) {
  const Case cases[] = {
      {"the usual length", "1b000", "0000:1b:00.0"},
      {"a bus below 0x10", "7000", "0000:07:00.0"},
      {"a domain", "100000", "0001:00:00.0"},
      {"a domain of more than four digits", "100003b000", "10000:3b:00.0"},
      {"device and function", "3b1f7", "0000:3b:1f.7"},
      {"upper case", "9B000", "0000:9b:00.0"},
      {"no device number is that large", "3b200", std::nullopt},
      {"it is printed without 0x", "0x1b000", std::nullopt},
      {"empty", "", std::nullopt},
      {"more than 64 bits", "11b00000000000000", std::nullopt},
      {"a domain of more than 32 bits", "ffffffffff3b000", std::nullopt},
      {"a sign", "-1b000", std::nullopt},
      {"a blank", "1b 000", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(pci_from_nccl_bus_id(c.text), c.expected);
  }
}

TEST(PciAddress, HasOneSpellingHoweverItIsWritten) {
  const Case cases[] = {
      {"already normal", "0000:3b:00.0", "0000:3b:00.0"},
      {"the driver leaves out the function", "0000:3b:00", "0000:3b:00.0"},
      {"lspci leaves out the domain", "3b:00.0", "0000:3b:00.0"},
      {"neither", "3b:00", "0000:3b:00.0"},
      {"nvidia-smi: eight digits, upper case", "00000000:3B:00.0", "0000:3b:00.0"},
      {"a domain that needs more digits", "00010000:3b:00.0", "10000:3b:00.0"},
      {"single digits", "0:7:0.1", "0000:07:00.1"},
      {"a bus is no address", "3b", std::nullopt},
      {"empty", "", std::nullopt},
      {"empty parts", "0000::00.0", std::nullopt},
      {"no device", "0000:3b:", std::nullopt},
      {"no function after the dot", "0000:3b:00.", std::nullopt},
      {"too many parts", "0:0000:3b:00.0", std::nullopt},
      {"a device that cannot be", "0000:3b:20.0", std::nullopt},
      {"trailing text", "0000:3b:00.0,", std::nullopt},
      {"a letter that is no digit", "0000:3g:00.0", std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.why);
    EXPECT_EQ(normal_pci(c.text), c.expected);
  }
}

TEST(PciAddress, IsTheSameFromTheKernelAndFromNccl) {
  EXPECT_EQ(normal_pci("0000:3b:00"), pci_from_nccl_bus_id("3b000"));
}

}  // namespace
}  // namespace faultline
