#include "parsers/system/smartctl.h"

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

// What a program says of a disk ends where another form begins: no line of it is indented by a
// letter's width, and most have a colon.
class DiskHealth : public PartDocument {
 public:
  DiskHealth() : PartDocument("smartctl") {}

 private:
  Line read(std::string_view text) override {
    if (begins_smartctl(text)) {
      if (text.starts_with("smartctl ")) give_all();
      disk();
      return Line::part;
    }
    const std::size_t colon = text.find(':');
    if (colon != text.npos && read_named(text.substr(0, colon), trimmed(text.substr(colon + 1))))
      return Line::part;
    if (read_attribute(text)) return Line::part;
    return Line::foreign;
  }

  OpenPart& disk() { return last() != nullptr ? *last() : open("host"); }

  bool read_named(std::string_view name, std::string_view value) {
    if (name == "SMART overall-health self-assessment test result" ||
        name == "SMART Health Status") {
      disk().value("smart health", value);
      rest_on_line(disk());
      return true;
    }
    if (name == "Critical Warning") {  // of NVMe, in bits
      disk().value("nvme critical warning", value);
      if (value != "0x00") rest_on_line(disk());
      return true;
    }
    if (name == "Device Model" || name == "Model Number" || name == "Product") {
      disk().name("model", value);
      return true;
    }
    if (name == "Serial Number" || name == "Serial number") {
      disk().name("serial", value);
      return true;
    }
    return false;
  }

  //   5 Reallocated_Sector_Ct   0x0033   001   001   005    Pre-fail  Always   FAILING_NOW 1736
  bool read_attribute(std::string_view text) {
    constexpr std::size_t kFirstOfRaw = 9;
    const auto cells = words_of(text, 16);
    if (cells.size() <= kFirstOfRaw || !is_count(cells[0]) || !cells[2].starts_with("0x") ||
        !is_count(cells[3]) || (cells[6] != "Pre-fail" && cells[6] != "Old_age"))
      return false;
    if (cells[8] == "-") return true;
    disk().value("smart attribute " + std::string(cells[1]),
                 std::string(cells[8]) + " (" + std::string(cells[kFirstOfRaw]) + ")");
    rest_on_line(disk());
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
