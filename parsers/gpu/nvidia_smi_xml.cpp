#include "parsers/gpu/nvidia_smi_xml.h"

#include <algorithm>
#include <string>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

constexpr std::string_view kRoot = "nvidia_smi_log";
constexpr std::size_t kMostDepth = 16;
constexpr std::size_t kLongestName = 96;

// The elements of a GPU that are kept; as many others say nothing about faults.
constexpr std::string_view kKept[] = {
    "product_name",
    "persistence_mode",
    "mig_mode",
    "gpu_reset_status",
    "gpu_recovery_action",
    "gsp_firmware_version",
    "pci",
    "performance_state",
    "clocks_event_reasons",
    "clocks_event_reasons_counters",
    "clocks_throttle_reasons",
    "fb_memory_usage",
    "compute_mode",
    "utilization",
    "ecc_mode",
    "ecc_errors",
    "retired_pages",
    "remapped_rows",
    "temperature",
    "gpu_power_readings",
    "power_readings",
    "clocks",
    "max_clocks",
    "fabric",
};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

struct Entity {
  std::string_view name;
  char character;
};
constexpr Entity kEntities[] = {
    {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};

std::string decoded(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto* entity = std::ranges::find_if(
        kEntities, [&](const Entity& each) { return text.starts_with(each.name); });
    const bool known = entity != std::ranges::end(kEntities);
    plain += known ? entity->character : text.front();
    text.remove_prefix(known ? entity->name.size() : 1);
  }
  return plain;
}

// <gpu id="00000000:3B:00.0">
std::string_view attribute(std::string_view tag, std::string_view name) {
  const std::string wanted = ' ' + std::string(name) + "=\"";
  const std::size_t at = tag.find(wanted);
  if (at == tag.npos) return {};
  tag.remove_prefix(at + wanted.size());
  return tag.substr(0, tag.find('"'));
}

class QueryXml : public PartDocument {
 public:
  QueryXml() : PartDocument("nvidia-smi-xml") {}

 private:
  // words_ has the open elements, the outermost first. stage_ counts further open elements that are
  // too deep to be kept in words_.
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (!text.starts_with('<') || cut()) return Line::foreign;
    std::string_view content;  // the text after the last tag
    bool leaf = false;         // only text since an element was opened on this line
    while (!text.empty()) {
      const std::size_t begin = std::min(text.find('<'), text.size());
      content = text.substr(0, begin);
      text.remove_prefix(begin);
      if (text.empty()) break;
      const std::size_t end = text.find('>');
      if (end == text.npos) return Line::part;  // cut: the tag is not known
      std::string_view tag = text.substr(1, end - 1);
      text.remove_prefix(end + 1);
      if (tag.starts_with('?') || tag.starts_with('!')) continue;
      if (take_front(tag, "/")) {
        if (leaf && !words_.empty() && words_.back() == trimmed(tag) && stage_ == 0)
          tell(decoded(trimmed(content)));
        leaf = false;
        if (close(trimmed(tag))) return Line::last;
      } else if (!tag.ends_with('/')) {
        open_element(tag);
        leaf = true;
      }
    }
    return Line::part;
  }

  void open_element(std::string_view tag) {
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t"));
    if (words_.size() >= kMostDepth || stage_ > 0 || !is_name(name)) {
      stage_ = std::min(stage_ + 1, 1000);
      return;
    }
    if (name == kRoot) {
      give_all();
      words_.clear();
      time_ = std::nullopt;
    }
    word(name);
    if (name != "gpu" || words_.size() != 2) return;
    give_all();
    if (auto pci = normal_pci(attribute(tag, "id"))) open("gpu").name("pci", *pci);
  }

  // True: the report is over.
  bool close(std::string_view name) {
    if (stage_ > 0) {
      --stage_;
      return false;
    }
    const auto opened = std::ranges::find(words_.rbegin(), words_.rend(), name);
    if (opened == words_.rend()) return false;
    // Elements that were opened in between were closed on lines that are missing.
    words_.erase(opened.base() - 1, words_.end());
    if (name == "gpu" && words_.size() == 1) give_all();
    return name == kRoot;
  }

  void tell(const std::string& value) {
    if (value.empty() || words_.size() < 2 || words_.front() != kRoot) return;
    if (words_.size() == 2) return tell_of_host(value);
    OpenPart* gpu = last();
    if (words_[1] != "gpu" || gpu == nullptr || gpu->report.kind != "gpu") return;
    std::string path;
    for (std::size_t i = 2; i < words_.size(); ++i) path += (i == 2 ? "" : " / ") + words_[i];
    if (path == "serial" && value != "N/A") gpu->name("serial", value);
    if (path == "uuid") gpu->name("uuid", value);
    if (path == "minor_number" && is_count(value)) gpu->name("minor", value);
    if (path == "processes / process_info / pid") return gpu->value("processes / pid", value);
    if (std::ranges::find(kKept, words_[2]) == std::end(kKept)) return;
    gpu->value(path, value);
  }

  void tell_of_host(const std::string& value) {
    const std::string& name = words_.back();
    if (name == "timestamp") time_ = parse_ctime(value);
    if (name != "driver_version" && name != "cuda_version" && name != "attached_gpus") return;
    (last() != nullptr ? *last() : open("host")).value(name, value);
  }
};

}  // namespace

bool begins_nvidia_smi_xml(std::string_view text) {
  text = trimmed(text);
  return text.starts_with("<!DOCTYPE nvidia_smi_log") || text.starts_with("<nvidia_smi_log>");
}

std::unique_ptr<Document> make_nvidia_smi_xml() { return std::make_unique<QueryXml>(); }

}  // namespace faultline
