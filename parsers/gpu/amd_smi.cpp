#include "parsers/gpu/amd_smi.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "model/pci_address.h"
#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

using tool_text::indentation;
using tool_text::is_count;
using tool_text::take_front;

// The sections and keys of a GPU that are kept. In an excerpt the section may be missing.
constexpr std::string_view kKept[] = {
    "ECC",     "ECC_BLOCKS", "USAGE", "POWER",    "TEMPERATURE", "THROTTLE", "RETIRED",
    "PENDING", "UN_RES",     "PCIE",  "XGMI_ERR", "STATUS",      "LIMIT",    "MARKET_NAME"};
// An excerpt that begins without its GPU is recognised by these, because nothing else prints them.
// The first array has headings, the second keys.
constexpr std::string_view kGpuSections[] = {"ECC", "ECC_BLOCKS", "PCIE", "THROTTLE", "UN_RES"};
constexpr std::string_view kGpuKeys[] = {"XGMI_ERR",
                                         "PAGE_ADDRESS",
                                         "TOTAL_CORRECTABLE_COUNT",
                                         "TOTAL_UNCORRECTABLE_COUNT",
                                         "TOTAL_DEFERRED_COUNT",
                                         "CACHE_UNCORRECTABLE_COUNT",
                                         "CORRECTABLE_COUNT",
                                         "UNCORRECTABLE_COUNT",
                                         "DEFERRED_COUNT",
                                         "REPLAY_COUNT",
                                         "L0_TO_RECOVERY_COUNT",
                                         "REPLAY_ROLL_OVER_COUNT",
                                         "NAK_SENT_COUNT",
                                         "NAK_RECEIVED_COUNT",
                                         "MAX_PCIE_WIDTH",
                                         "MAX_PCIE_SPEED",
                                         "THROTTLE_STATUS",
                                         "PROCHOT_VIOLATION_STATUS",
                                         "SOCKET_THERMAL_VIOLATION_STATUS",
                                         "VR_THERMAL_VIOLATION_STATUS",
                                         "HBM_THERMAL_VIOLATION_STATUS"};
constexpr std::string_view kNicKeys[] = {"PORTS",      "RDMA_DEVICES", "NETDEV",
                                         "LINK_STATE", "CARRIER",      "PORT_NUM"};
constexpr std::string_view kPageKeys[] = {"RETIRED", "PENDING", "UN_RES"};
constexpr std::string_view kNoPages = "No bad pages found.";

template <std::size_t N>
bool is_one_of(std::string_view text, const std::string_view (&words)[N]) {
  return std::ranges::find(words, text) != std::end(words);
}

// "PORT_0" of PORT
bool is_numbered(std::string_view key, std::string_view name) {
  return take_front(key, name) && take_front(key, "_") && is_count(key);
}

struct Head {
  std::string_view what;
  std::string_view index;
};

std::optional<Head> head_in(std::string_view body) {
  for (const std::string_view what : {"GPU", "NIC", "CPU", "CORE"}) {
    std::string_view rest = body;
    if (take_front(rest, what) && take_front(rest, ": ") && is_count(rest)) return Head{what, rest};
  }
  return std::nullopt;
}

// "KEY: value" or "KEY:"; keys are in capitals.
std::optional<KeyAndValue> key_line(std::string_view body) {
  constexpr std::size_t kLongestKey = 64;
  const std::size_t colon = body.find(':');
  if (colon == body.npos || colon == 0 || colon > kLongestKey || !is_letter_character(body[0]))
    return std::nullopt;
  const std::string_view key = body.substr(0, colon);
  const std::string_view after = body.substr(colon + 1);
  if (!after.empty() && after.front() != ' ') return std::nullopt;
  const bool capitals = std::ranges::all_of(key, [](char c) {
    return (c >= 'A' && c <= 'Z') || is_digit_character(c) || c == '_' || c == ' ';
  });
  return capitals ? std::optional(KeyAndValue{key, trimmed(after)}) : std::nullopt;
}

bool is_nic_key(const KeyAndValue& line) {
  if (is_one_of(line.key, kNicKeys)) return true;
  return line.value.empty() &&
         (is_numbered(line.key, "RDMA_DEVICE") || is_numbered(line.key, "PORT"));
}

bool is_known(const KeyAndValue& line) {
  return is_one_of(line.key, kGpuKeys) || is_nic_key(line) ||
         (is_one_of(line.key, kGpuSections) && line.value.empty()) ||
         (is_one_of(line.key, kPageKeys) && line.value == kNoPages);
}

// An excerpt of a NIC must begin with a heading, because other programs print the same keys.
bool may_begin(const KeyAndValue& line) {
  return is_known(line) && (!is_nic_key(line) || line.value.empty());
}

class Sections : public PartDocument {
 public:
  Sections() : PartDocument("amd-smi") {}

 private:
  enum Stage { kNothing, kGpu, kNic, kOther };

  Line read(std::string_view text) override {
    const auto indent = indent_of_line(text);
    const std::string_view body = trimmed(text);
    if (const auto head = head_in(body)) {
      begin(*head, indent);
      return Line::part;
    }
    const auto line = key_line(body);
    if (!line) return Line::foreign;
    const bool known = is_known(*line);
    if (stage_ == kNothing || words_.empty()) {
      if (!may_begin(*line)) return Line::after;
      words_.clear();
      push_key(0, {});  // stands for the missing line of the GPU
      stage_ = kGpu;
    }
    if (!known && indent <= indent_of(words_.front())) return Line::foreign;
    if (is_nic_key(*line)) stage_ = kNic;
    const std::string path = path_to(indent, line->key);
    if (stage_ == kNic) {
      read_nic(path, *line);
    } else if (stage_ == kGpu) {
      read_gpu(path, *line);
    }
    return Line::part;
  }

  void begin(const Head& head, int indent) {
    give_all();
    words_.clear();
    push_key(indent, head.index);
    time_ = std::nullopt;
    stage_ = head.what == "GPU" ? kGpu : head.what == "NIC" ? kNic : kOther;
    if (stage_ == kNic) open("nic").name("index", head.index);
  }

  void read_gpu(const std::string& path, const KeyAndValue& line) {
    if (cut() || line.value.empty() || line.value == "N/A") return;
    if (line.key == "BDF") {
      if (const auto pci = normal_pci(line.value)) identity().name("pci", *pci);
    } else if (line.key == "UUID") {
      identity().name("uuid", line.value);
    } else if (line.key == "TIMESTAMP" && is_count(line.value)) {
      read_time(line.value);
    } else if (line.key == "MAX_PCIE_WIDTH" || line.key == "MAX_PCIE_SPEED") {
      // Named like the current width and speed, so that they can be compared.
      gpu().value(line.key == "MAX_PCIE_WIDTH" ? "MAX_PCIE / WIDTH" : "MAX_PCIE / SPEED",
                  line.value);
    } else if (is_one_of(std::string_view(path).substr(0, path.find(" / ")), kKept) ||
               is_one_of(line.key, kGpuKeys)) {
      gpu().value(path, line.value);
    }
  }

  void read_time(std::string_view seconds) {
    constexpr std::int64_t kLatest = 32503680000;  // the year 3000
    std::int64_t value = 0;
    std::from_chars(seconds.data(), seconds.data() + seconds.size(), value);
    if (value < kLatest) time_ = Timestamp(std::chrono::seconds(value));
  }

  // A part for each value, so that its evidence is its own line. It is named only by the number of
  // the GPU, because the commands print different other names.
  OpenPart& gpu() {
    OpenPart& part = open("gpu");
    part.name("index", index());
    return part;
  }

  // The number of the current GPU or NIC; empty: the excerpt began below its line.
  std::string index() const {
    return words_.empty() ? std::string() : std::string(key_of(words_.front()));
  }

  // The part that says which GPU has this number.
  OpenPart& identity() {
    const auto is_identity = [](const OpenPart& each) { return each.has_value(kIdentity); };
    if (OpenPart* part = find_if(is_identity)) return *part;
    OpenPart& part = gpu();
    part.value(kIdentity, "amd");
    return part;
  }

  // A port is printed twice: as an interface, and below its RDMA device.
  void read_nic(const std::string& path, const KeyAndValue& line) {
    const bool rdma = path.find("RDMA_DEVICE") != std::string::npos;
    if (line.value.empty()) {
      if (is_numbered(line.key, "RDMA_DEVICE")) open_port();
      if (is_numbered(line.key, "PORT")) begin_port(rdma);
      return;
    }
    if (cut() || line.value == "N/A") return;
    if (line.key == "PRODUCT_NAME") {
      if (OpenPart* nic = find_nic()) nic->value(line.key, line.value);
    } else if (rdma && line.key == "NAME") {
      port().name("device", line.value);
    } else if (rdma && line.key == "NODE_GUID") {
      port().name("node_guid", canonical_guid(line.value));
    } else if (line.key == "NETDEV") {
      if (!port().name_of("netdev").empty()) open_port();
      port().name("netdev", line.value);
    } else if (line.key == "PORT_NUM") {
      if (!port().name_of("device").empty()) port().name("port", line.value);
    } else if (line.key == "LINK_STATE" || line.key == "STATE" || line.key == "CARRIER" ||
               line.key == "LINK_SPEED") {
      if (port().has_value(line.key)) open_port();
      if (line.key == "LINK_STATE" || line.key == "STATE") rest_on_line(port());
      port().value(line.key, line.value);
    }
  }

  OpenPart* find_nic() {
    return find_if([](const OpenPart& each) { return each.report.kind == "nic"; });
  }

  OpenPart& port() {
    return last() != nullptr && last()->report.kind == "port" ? *last() : open_port();
  }

  OpenPart& open_port() {
    std::string product;
    if (const OpenPart* nic = find_nic()) product = value_of(nic->report.values, "PRODUCT_NAME");
    OpenPart& port = open("port");
    if (!product.empty()) port.value("Product Name", product);
    return port;
  }

  void begin_port(bool rdma) {
    if (!rdma) {
      open_port();
      return;
    }
    // The first port of a device is already open, since the device's name was read.
    if (port().name_of("netdev").empty() && !port().has_value("STATE")) return;
    const std::string device(port().name_of("device"));
    const std::string guid(port().name_of("node_guid"));
    OpenPart& next = open_port();
    next.name("device", device);
    next.name("node_guid", guid);
  }

  static constexpr std::string_view kIdentity = "vendor";
};

}  // namespace

bool begins_amd_smi(std::string_view text) {
  const std::string_view body = trimmed(text);
  if (head_in(body)) return true;
  const auto line = key_line(body);
  return line && may_begin(*line);
}

std::unique_ptr<Document> make_amd_smi() { return std::make_unique<Sections>(); }

}  // namespace faultline
