#include "parsers/system/smartctl.h"

#include <fmt/format.h>

#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

bool is_section(std::string_view text) {
  return text.starts_with("=== START OF ") && text.ends_with(" ===");
}

// A line such as the report is made of: "Power mode is:    ACTIVE", or the rest of one.
bool is_of_report(std::string_view text) {
  if (indentation(text) > 0 || text.starts_with('(') || text.starts_with("Copyright ")) return true;
  const std::string_view key = text.substr(0, text.find(':'));
  return key.size() < text.size() && key.find_first_of("0123456789[]") == key.npos;
}

// Each thing that a disk says of itself is a part of its own, for one host has many disks. The
// words are the disk's name, how many disks came, and whether this one has told of its health.
class DiskHealth : public PartDocument {
 public:
  DiskHealth() : PartDocument("smartctl") {}

 private:
  Line read(std::string_view text) override {
    if (begins_smartctl(text)) {
      const bool is_another = words_.size() > 2 && text.find(" SMART ") != text.npos;
      if (text.starts_with("smartctl ") || words_.empty() || is_another) begin_disk();
      return Line::part;
    }
    if (!cut()) read_value(text);
    constexpr int kMostLines = 400;
    if (read_attribute(text) || (is_of_report(text) && ++stage_ < kMostLines)) return Line::part;
    return Line::foreign;
  }

  void begin_disk() {
    const std::size_t disks = words_.size() < 2 ? 0 : words_[1].size();
    words_.clear();
    stage_ = 0;
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

  // What has a threshold below which the disk is expected to fail:
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
