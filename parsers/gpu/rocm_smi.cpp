#include "parsers/gpu/rocm_smi.h"

#include <algorithm>
#include <span>
#include <string>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

using Words = std::vector<std::string_view>;

// The rows that are kept: their keys begin with one of these.
constexpr std::string_view kKept[] = {"Temperature (Sensor ", "GPU use (%)", "PCIe Replay Count",
                                      "XGMI Error count"};
// A row without a title is recognised only by these, because other programs label lines alike.
constexpr std::string_view kKnown[] = {"Temperature (Sensor ",
                                       "GPU use (%)",
                                       "PCIe Replay Count",
                                       "XGMI Error count",
                                       "PCI Bus",
                                       "pcie clock level",
                                       "Device Name",
                                       "GPU ID",
                                       "Card ",
                                       "GUID",
                                       "GPU memory use (%)",
                                       "Average Graphics Package Power",
                                       "Current Socket Graphics Package Power",
                                       "Unique ID",
                                       "VRAM Total",
                                       "VRAM vendor",
                                       "Performance Level",
                                       "Voltage (mV)"};

// "=========== ROCm System Management Interface ==========="; older versions print only "ROCm SMI".
bool is_title(std::string_view text) {
  return text.starts_with("==") && (text.find(" ROCm System Management Interface ") != text.npos ||
                                    text.find("ROCm SMI") != text.npos);
}

bool is_end(std::string_view text) {
  return text.starts_with("==") && text.find(" End of ROCm SMI Log ") != text.npos;
}

bool is_rule(std::string_view text) {
  return text.size() > 8 && (text.starts_with("====") || text.starts_with("____")) &&
         (text.ends_with("===") || text.ends_with("___"));
}

// "GPU[0]\t\t: key: value", "GPU[0] XCP[1]\t: …", and "GPU[0]: \tRAS INFO" above a table.
struct Row {
  std::string_view index;
  std::string_view rest;
};

std::optional<Row> row_in(std::string_view text) {
  Row row;
  if (!take_front(text, "GPU[") || !take_until(text, "]", row.index) || !is_count(row.index))
    return std::nullopt;
  std::string_view between;
  if (!take_until(text, ":", between)) return std::nullopt;
  row.rest = trimmed(text);
  const bool is_heading = row.rest == "RAS INFO" || row.rest.ends_with(" PAGES INFO");
  if (between.empty() != is_heading) return std::nullopt;
  between = trimmed(between);
  return between.empty() || between.starts_with("XCP[") ? std::optional(row) : std::nullopt;
}

bool begins_with_any_of(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view begin) { return text.starts_with(begin); });
}

bool is_known(const Row& row) {
  return row.rest == "RAS INFO" || row.rest.ends_with(" PAGES INFO") ||
         begins_with_any_of(row.rest, kKnown);
}

bool is_page_status(std::string_view word) {
  return word == "reserved" || word == "pending" || word == "unreservable";
}

class RocmSmi : public PartDocument {
 public:
  RocmSmi() : PartDocument("rocm-smi") {}

 private:
  enum Stage { kRows, kErrors, kPages, kSummary };

  Line read(std::string_view text) override {
    text = trimmed(text);
    if (is_end(text)) return Line::last;
    if (is_title(text)) {
      give_all();
      stage_ = kRows;
      return Line::part;
    }
    if (is_rule(text)) {
      if (text.find(" Concise Info ") != text.npos) stage_ = kSummary;
      return Line::part;
    }
    if (const auto row = row_in(text); row) {
      read_row(*row);
      return Line::part;
    }
    if (stage_ == kSummary) return read_summary(text);
    if ((stage_ == kErrors || stage_ == kPages) && read_table(text)) return Line::part;
    return Line::foreign;
  }

  OpenPart& gpu(std::string_view index) {
    OpenPart& part = open("gpu");
    part.name("index", index);
    return part;
  }

  void read_row(const Row& row) {
    stage_ = row.rest == "RAS INFO" ? kErrors : row.rest.ends_with("PAGES INFO") ? kPages : kRows;
    words_.clear();
    word(row.index);  // the GPU that the following table is about
    if (stage_ == kPages) gpu(row.index);
    const std::size_t colon = row.rest.rfind(": ");
    if (stage_ != kRows || colon == row.rest.npos || cut()) return;
    const std::string_view key = trimmed(row.rest.substr(0, colon));
    const std::string_view value = trimmed(row.rest.substr(colon + 2));
    if (value.empty() || value == "N/A") return;
    if (key == "PCI Bus") {
      if (const auto pci = normal_pci(value)) {
        OpenPart& part = gpu(row.index);
        part.name("pci", *pci);
        part.value("vendor", "amd");
      }
      return;
    }
    if (key == "pcie clock level") return read_link(row.index, value);
    if (begins_with_any_of(key, kKept)) gpu(row.index).value(key, value);
  }

  // "1 (16.0GT/s x16)"
  void read_link(std::string_view index, std::string_view value) {
    const std::size_t width = value.rfind(" x");
    if (width == value.npos || !value.ends_with(')')) return;
    const std::string_view lanes = value.substr(width + 2, value.size() - width - 3);
    if (is_count(lanes)) gpu(index).value("PCIE / WIDTH", lanes);
  }

  bool read_table(std::string_view text) {
    if (words_.empty()) return false;
    const Words words = words_of(text, 8);
    if (stage_ == kErrors) {
      if (words[0] == "Block") return true;
      // UMC      ENABLED                    0                    0
      if (words.size() != 4 || !is_count(words[2]) || !is_count(words[3]) || cut()) {
        return words.size() == 2 && (words[1] == "DISABLED" || words[1] == "ENABLED");
      }
      gpu(words_[0]).value("RAS INFO / " + std::string(words[0]) + " / Uncorrectable Error",
                           words[3]);
      return true;
    }
    if (words[0] == "Page") return true;
    if (words.size() != 3 || !is_page_status(words[2])) return false;
    if (last() != nullptr) last()->value("PAGES INFO / Status", words[2]);
    return true;
  }

  // 0       1     0x74a1,   34495  43.0°C  6.0W   NPS1, SPX, 0  131Mhz  900Mhz  0%  auto  750.0W 3%
  // 0%
  Line read_summary(std::string_view text) {
    const Words words = words_of(text, 32);
    const bool is_head = (words[0] == "Device" || words[0] == "GPU") &&
                         text.find("Temp") != text.npos && text.find("GPU%") != text.npos;
    if (is_head || text.starts_with("(DID,") || text.starts_with("Name (")) return Line::part;
    constexpr std::size_t kLeastColumns = 8;
    if (words.size() < kLeastColumns || !is_count(words[0]) || !words.back().ends_with('%'))
      return Line::foreign;
    if (cut()) return Line::part;
    OpenPart& part = gpu(words[0]);
    part.value("GPU use (%)", words.back());
    const auto temperature = std::ranges::find_if(words, [](std::string_view word) {
      return (word.ends_with("°C") || word.ends_with('c')) &&
             is_count(word.substr(0, word.find('.')));
    });
    if (temperature != words.end()) part.value("Temperature (C)", *temperature);
    return Line::part;
  }
};

}  // namespace

bool begins_rocm_smi(std::string_view text) {
  text = trimmed(text);
  if (is_title(text)) return true;
  const auto row = row_in(text);
  return row && is_known(*row);
}

std::unique_ptr<Document> make_rocm_smi() { return std::make_unique<RocmSmi>(); }

}  // namespace faultline
