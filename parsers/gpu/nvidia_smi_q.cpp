#include "parsers/gpu/nvidia_smi_q.h"

#include <algorithm>
#include <string>

#include "model/pci_address.h"
#include "parsers/gpu/nvidia_smi_error.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

// The sections and values that are kept; as many others say nothing about faults.
constexpr std::string_view kKept[] = {
    "Product Name",
    "Persistence Mode",
    "MIG Mode",
    "GPU Reset Status",
    "GPU Recovery Action",
    "GSP Firmware Version",
    "PCI",
    "Performance State",
    "Clocks Event Reasons",
    "Clocks Event Reasons Counters",
    "Clocks Throttle Reasons",
    "FB Memory Usage",
    "Compute Mode",
    "Utilization",
    "ECC Mode",
    "Ecc Mode",
    "ECC Errors",
    "Retired Pages",
    "Remapped Rows",
    "Temperature",
    "GPU Power Readings",
    "Power Readings",
    "Clocks",
    "Max Clocks",
    "Fabric",
    "Processes",
};

std::optional<std::string> heading(std::string_view text) {
  constexpr std::size_t kLeast = sizeof("0000:53:00.0") - 1;
  if (!take_front(text, "GPU ") || text.size() < kLeast || text[0] != '0') return std::nullopt;
  return normal_pci(text);
}

// An excerpt that does not name its GPU may begin with these. Nothing else prints such lines.
bool is_section_alone(std::string_view text) {
  constexpr std::string_view kSections[] = {
      "ECC Errors",           "Remapped Rows",           "Retired Pages",
      "Clocks Event Reasons", "Clocks Throttle Reasons", "Fabric"};
  return std::ranges::find(kSections, text) != std::end(kSections);
}

bool is_log_head(std::string_view text) {
  return text.starts_with("==") && text.find("NVSMI LOG") != std::string_view::npos;
}

// "Key      : Value", "Key      :", or "Section"
struct KeyLine {
  std::string_view key;
  std::optional<std::string_view> value;
};

std::optional<KeyLine> key_line(std::string_view text) {
  constexpr std::size_t kLongestKey = 64;
  KeyLine line{.key = text, .value = {}};
  if (const std::size_t colon = text.find(" :"); colon != std::string_view::npos) {
    std::string_view after = text.substr(colon + 2);
    if (!after.empty() && after.front() != ' ' && after.front() != '\t') return std::nullopt;
    line.key = trimmed(text.substr(0, colon));
    line.value = trimmed(after);
  }
  const bool is_key = !line.key.empty() && line.key.size() <= kLongestKey &&
                      std::ranges::all_of(line.key, [](char c) {
                        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == ' ' || c == '.' || c == '/' ||
                               c == '-' || c == '_' || c == '(' || c == ')' || c == '#';
                      });
  return is_key ? std::optional(line) : std::nullopt;
}

class Query : public PartDocument {
 public:
  Query() : PartDocument("nvidia-smi-q") {}

 private:
  enum Stage { kHead, kGpu, kBetween };

  Line read(std::string_view text) override {
    const auto indent = indent_of_line(text);
    const std::string_view body = trimmed(text);
    if (is_log_head(body)) {
      give_all();
      stage_ = kHead;
      time_ = std::nullopt;
      return Line::part;
    }
    if (auto pci = heading(body)) {
      give_all();
      stage_ = kGpu;
      words_.clear();
      push_key(indent, {});
      open("gpu").name("pci", *pci);
      return Line::part;
    }
    if (const auto error = nvidia_smi_error(body)) {
      give_all();
      stage_ = kBetween;
      error->tell(open(error->kind()));
      return Line::part;
    }
    const auto line = key_line(body);
    if (!line) return Line::foreign;
    if (is_section_alone(body) && (stage_ != kGpu || indent <= indent_of(words_.front()))) {
      give_all();
      stage_ = kGpu;
      words_.clear();
      push_key(std::max(indent, 1) - 1, {});  // stands for the missing line of the GPU
      push_key(indent, body);
      open("gpu");
      return Line::part;
    }
    if (stage_ == kHead) return read_head(*line);
    if (stage_ != kGpu || indent <= indent_of(words_.front()) || last() == nullptr)
      return Line::foreign;
    read_gpu(indent, *line);
    return Line::part;
  }

  Line read_head(const KeyLine& line) {
    if (!line.value) return Line::foreign;
    if (line.key == "Timestamp") {
      time_ = parse_ctime(*line.value);
      return Line::part;
    }
    if (line.key != "Driver Version" && line.key != "CUDA Version" && line.key != "Attached GPUs")
      return Line::foreign;
    (last() != nullptr ? *last() : open("host")).value(line.key, *line.value);
    return Line::part;
  }

  void read_gpu(int indent, const KeyLine& line) {
    const std::string path = path_to(indent, line.key);
    OpenPart& gpu = *last();
    if (!line.value) return;
    if (path == "Serial Number" && *line.value != "N/A") gpu.name("serial", *line.value);
    if (path == "GPU UUID") gpu.name("uuid", *line.value);
    if (path == "Minor Number" && is_count(*line.value)) gpu.name("minor", *line.value);
    // Of processes only the ids are kept.
    if (path == "Processes / Process ID") return gpu.value("Processes / pid", *line.value);
    const std::string_view section = words_.size() > 1 ? key_of(words_[1]) : std::string_view();
    if (std::ranges::find(kKept, section) == std::end(kKept)) return;
    if (section == "Processes" && words_.size() > 2) return;
    if (cut()) return;
    gpu.value(path, *line.value);
  }
};

}  // namespace

bool begins_nvidia_smi_q(std::string_view text) {
  text.remove_prefix(indentation(text));
  if (text.empty()) return false;
  text = trimmed(text);
  switch (text.front()) {
    case '=':
      return is_log_head(text);
    case 'G':
      return heading(text).has_value();
    default:
      return is_section_alone(text);
  }
}

std::unique_ptr<Document> make_nvidia_smi_q() { return std::make_unique<Query>(); }

}  // namespace faultline
