#include "parsers/system/smartctl.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

bool is_section(std::string_view text) {
  return text.starts_with("=== START OF ") && text.ends_with(" ===");
}

// A line of the report that is not used here. It is recognised by its first words, because lines of
// other programs may follow the report. A line far to the right continues the line above.
bool is_of_report(std::string_view text) {
  constexpr std::size_t kFarToTheRight = 12;
  constexpr std::string_view kBeginnings =
      "ATA Version is|Available Spare|Compliance:|Controller Busy|Controller ID|"
      "Conveyance self-test|Copyright (C)|Critical Comp|Critical Warning:|Data Units |"
      "Device Model:|Device is:|Drive failure expected|Error Information|Error logging|"
      "Extended self-test|Firmware Version|Form Factor:|General SMART|Host Read|Host Write|"
      "ID# ATTRIBUTE|IEEE OUI|LU WWN|Local Time is|Log Page Attr|Logical block|"
      "Maximum Data|Media and Data|Model Family|Model Number|NVMe Version|Namespace 1|"
      "Number of Namespaces|Offline data|Optional Admin|Optional NVM|PCI Vendor|"
      "Percentage Used|Power Cycles|Power On Hours|Product:|Revision:|Rotation Rate|"
      "SATA Version is|SCT capabilities|SMART |SMART/Health|Sector Size|"
      "Self-test execution|Serial Number|Serial number|Short self-test|Supported LBA|"
      "Supported Power|Temperature Sensor|Temperature:|Thermal Temp|Total NVM|"
      "Total time to|Transport protocol|Unallocated NVM|Unsafe Shutdowns|User Capacity|"
      "Vendor Specific|Vendor:|Warning  Comp|capabilities:|data collection:|"
      "recommended polling";
  if (indentation(text) >= kFarToTheRight || text.starts_with("\t\t")) return true;
  for (std::string_view left = kBeginnings; !left.empty();) {
    const std::string_view beginning = left.substr(0, left.find('|'));
    if (text.starts_with(beginning)) return true;
    left.remove_prefix(std::min(beginning.size() + 1, left.size()));
  }
  return false;
}

// "$ sudo smartctl -H /dev/sdb" gives "/dev/sdb".
std::string_view device_of_command(std::string_view text) {
  const std::size_t command = text.find("smartctl -");
  const std::size_t device = text.find("/dev/", std::min(command, text.size()));
  if (command == text.npos || device == text.npos) return {};
  return text.substr(device, text.find(' ', device) - device);
}

// Each value of a disk is a part of its own, because a host has many disks. words_ has the name of
// the disk, a text as long as the number of disks so far, and, once the disk's health was read, a
// third word.
class DiskHealth : public PartDocument {
 public:
  DiskHealth() : PartDocument("smartctl") {}

 private:
  Line read(std::string_view text) override {
    if (begins_smartctl(text)) {
      const bool is_another = words_.size() > 2 && text.find(" SMART ") != text.npos;
      const bool is_named = !words_.empty() && words_[0].starts_with("/dev/") && words_.size() == 2;
      if ((text.starts_with("smartctl ") && !is_named) || words_.empty() || is_another)
        begin_disk();
      return Line::part;
    }
    if (const std::string_view device = device_of_command(text); !device.empty()) {
      begin_disk();
      words_[0] = device;
      return Line::part;
    }
    if (!cut()) read_value(text);
    if (read_attribute(text) || is_of_report(text)) return Line::part;
    return Line::after;
  }

  void begin_disk() {
    const std::size_t disks = words_.size() < 2 ? 0 : words_[1].size();
    words_.clear();
    word(fmt::format("disk {}", disks + 1));
    word(std::string(disks + 1, 'I'));
  }

  void tell(std::string_view what, std::string_view value) {
    OpenPart& part = open("host");
    part.name("disk", words_[0]);
    part.value(fmt::format("{} of {}", what, words_[0]), value);
    give_all();
  }

  void read_value(std::string_view text) {
    if (words_.empty()) return;
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return;
    const std::string_view name = text.substr(0, colon);
    const std::string_view value = trimmed(text.substr(colon + 1));
    if (name == "Serial Number" || name == "Serial number") words_[0] = value;
    if (name == "SMART overall-health self-assessment test result" ||
        name == "SMART Health Status") {
      tell("smart health", value);
      if (words_.size() == 2) word("told");
    }
    if (name == "Critical Warning") tell("nvme critical warning", value);  // bits
  }

  // An attribute with a threshold below which the disk is expected to fail:
  //   5 Reallocated_Sector_Ct   0x0033   001   001   005    Pre-fail  Always   FAILING_NOW 1736
  bool read_attribute(std::string_view text) {
    constexpr std::size_t kFirstOfRaw = 9;
    const auto cells = words_of(text, 16);
    if (words_.empty() || cells.size() <= kFirstOfRaw || !is_count(cells[0]) ||
        !cells[2].starts_with("0x") || !is_count(cells[3]) ||
        (cells[6] != "Pre-fail" && cells[6] != "Old_age"))
      return false;
    if (cells[6] == "Pre-fail" && cells[8] == "FAILING_NOW")
      tell(fmt::format("smart attribute {}", cells[1]),
           fmt::format("{} ({})", cells[8], cells[kFirstOfRaw]));
    return true;
  }
};

}  // namespace

bool begins_smartctl(std::string_view text) {
  return (text.starts_with("smartctl ") && text.find(" (local build)") != text.npos) ||
         (is_section(text) &&
          (text.find("SMART") != text.npos || text.find("INFORMATION") != text.npos));
}

std::unique_ptr<Document> make_smartctl() { return std::make_unique<DiskHealth>(); }

}  // namespace faultline
