#include "parsers/nccl/nccl_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "parsers/scan.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

constexpr auto kNowhere = std::string_view::npos;

constexpr double kMostBandwidth = 1e6;  // GB/s

// The end of a value that did not fit into NCCL's buffer: do not compare such a value as a whole.
constexpr std::string_view kCut = " ...";

void add(std::vector<Fact>& facts, const NcclMessage& message, std::string_view group,
         std::string_view name, std::string_view value) {
  facts.emplace_back(
      Setting{std::string(group), std::string(name), std::string(value), message.thread});
}

using tool_text::trimmed;

// The text after `before`, if the message begins with it.
std::optional<std::string_view> after(const NcclMessage& message, std::string_view before) {
  if (!message.text.starts_with(before)) return std::nullopt;
  return message.text.substr(before.size());
}

bool is_upper_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_integer(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_word(std::string_view text) { return !text.empty() && text.find(' ') == kNowhere; }

// "eth0:10.0.0.11<0>" without the port, which is always 0 there.
std::optional<std::string_view> interface_in(std::string_view text) {
  if (text.starts_with("[0]")) text.remove_prefix(3);
  if (!is_word(text) || !text.ends_with('>')) return std::nullopt;
  std::size_t port = text.rfind('<');
  if (port == kNowhere || text.find(':') >= port) return std::nullopt;
  return text.substr(0, port);
}

// "mlx5_0:1/IB", "mlx5_0:1:rail:plane/RoCE", "ibp0:1/IB/SHARP"
bool is_ib_device(std::string_view text) {
  if (text.ends_with("/SHARP")) text.remove_suffix(6);
  if (text.ends_with("/IB"))
    text.remove_suffix(3);
  else if (text.ends_with("/RoCE"))
    text.remove_suffix(5);
  else
    return false;
  return is_word(text) && text.find(':') != kNowhere;
}

struct Item {
  std::string_view text;
  bool last = false;
};

// The next item of " [0]one [1]two", without its number. Nothing if there is no other.
std::optional<Item> next_item(std::string_view& rest) {
  rest = trimmed(rest);
  Scan scan(rest);
  int number = 0;
  if (!scan.skip("[") || !scan.integer(number) || !scan.skip("]")) return std::nullopt;
  rest = scan.rest();
  std::size_t end = rest.starts_with("={") ? rest.find('}') : rest.find(' ');
  if (end != kNowhere && rest[end] == '}') ++end;
  Item item{rest.substr(0, end), end == kNowhere};
  rest.remove_prefix(item.text.size());
  return item;
}

// A merged NIC: "={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}" becomes "mlx5_0:1/IB+mlx5_1:1/IB".
std::optional<std::string> merged_device(std::string_view text) {
  text.remove_prefix(2);
  if (!text.ends_with('}')) return std::nullopt;
  text.remove_suffix(1);
  std::string joined;
  while (!(text = trimmed(text)).empty()) {
    Scan scan(text);
    int number = 0;
    if (!scan.skip("[") || !scan.integer(number) || !scan.skip("] ")) return std::nullopt;
    std::string_view device = scan.rest();
    device = trimmed(device.substr(0, device.find(',')));
    if (!is_ib_device(device)) return std::nullopt;
    if (!joined.empty()) joined += '+';
    joined += device;
    std::size_t comma = text.find(',');
    text = comma == kNowhere ? std::string_view() : text.substr(comma + 1);
  }
  return joined;
}

}  // namespace

bool read_version(const NcclMessage& message, std::vector<Fact>& facts) {
  auto version = after(message, "NCCL version ");
  if (!version || !is_word(*version)) return false;
  add(facts, message, "version", "nccl", *version);
  return true;
}

bool read_git_version(const NcclMessage& message, std::vector<Fact>& facts) {
  auto version = after(message, "NCCL git version ");
  if (!version || version->empty()) return false;
  add(facts, message, "version", "nccl_git", *version);
  return true;
}

bool read_driver_version(const NcclMessage& message, std::vector<Fact>& facts) {
  auto version = after(message, "cudaDriverVersion ");
  if (!version || !is_integer(*version)) return false;
  add(facts, message, "version", "driver", *version);
  return true;
}

bool read_environment(const NcclMessage& message, std::vector<Fact>& facts) {
  std::size_t blank = message.text.find(' ');
  if (blank == kNowhere || !is_upper_name(message.text.substr(0, blank))) return false;
  std::string_view name = message.text.substr(0, blank);
  std::string_view rest = message.text.substr(blank);
  constexpr std::string_view kByEnvironment = " set by environment to ";
  constexpr std::string_view kSetTo = " set to ";
  if (rest.starts_with(kByEnvironment))
    rest.remove_prefix(kByEnvironment.size());
  else if (rest.starts_with(kSetTo))
    rest.remove_prefix(kSetTo.size());
  else
    return false;
  // NCCL adds a dot after a number but not after a text, which may itself end with a dot.
  if (rest.ends_with('.') && is_integer(rest.substr(0, rest.size() - 1))) rest.remove_suffix(1);
  add(facts, message, "environment", name, rest);
  return true;
}

bool read_plugin_environment(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kBefore = "Plugin name set by env to ";
  std::size_t at = message.text.find(kBefore);
  if (at == kNowhere) return false;
  add(facts, message, "environment", "NCCL_NET_PLUGIN", message.text.substr(at + kBefore.size()));
  return true;
}

bool read_config(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "Comm config ");
  if (!rest) return false;
  constexpr std::string_view kSet = " set to ";
  constexpr std::string_view kReset = " reset to ";  // "… reset to NCCL_X=3": by the environment
  std::size_t set = rest->find(kSet);
  std::size_t reset = rest->find(kReset);
  if (set != kNowhere) {
    if (rest->substr(0, set).ends_with(" is")) return false;  // a warning in words
    add(facts, message, "config", rest->substr(0, set), rest->substr(set + kSet.size()));
  } else if (reset != kNowhere) {
    std::string_view value = rest->substr(reset + kReset.size());
    std::size_t equals = value.find('=');
    if (equals != kNowhere) value.remove_prefix(equals + 1);
    add(facts, message, "config", rest->substr(0, reset), value);
  } else {
    return false;
  }
  return true;
}

bool read_bootstrap_interface(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "Bootstrap : Using ");
  if (!rest) rest = after(message, "Bootstrap: Using ");
  if (!rest) return false;
  std::string_view text = trimmed(*rest);
  if (auto interface = interface_in(text)) {
    add(facts, message, "interface", "bootstrap", *interface);
    return true;
  }
  // A NIC and its port, with NCCL_OOB_NET_ENABLE.
  std::size_t colon = text.rfind(':');
  if (!is_word(text) || colon == kNowhere || !is_integer(text.substr(colon + 1))) return false;
  add(facts, message, "interface", "bootstrap", text);
  return true;
}

bool read_old_interface(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "NET : Using interface ");
  if (!rest) return false;
  auto interface = interface_in(trimmed(*rest));
  if (!interface) return false;
  add(facts, message, "interface", "bootstrap", *interface);
  return true;
}

bool read_ib_devices(const NcclMessage& message, std::vector<Fact>& facts) {
  if (message.text == "NET/IB : No device found.") {
    add(facts, message, "devices", "IB", "");
    return true;
  }
  auto rest = after(message, "NET/IB : Using ");
  if (!rest) return false;
  std::size_t end = rest->find(';');
  std::string_view list = rest->substr(0, end);
  std::string devices;
  bool whole = end != kNowhere;
  while (auto item = next_item(list)) {
    std::optional<std::string> device;
    if (item->text.starts_with("={"))
      device = merged_device(item->text);
    else if (is_ib_device(item->text))
      device = item->text;
    if (!device) {
      if (whole || !item->last) return false;
      break;
    }
    // The last item of a cut line may be incomplete: "/IB" instead of "/IB/SHARP".
    if (!whole && item->last) break;
    if (!devices.empty()) devices += ' ';
    devices += *device;
  }
  if (!whole) devices += kCut;
  add(facts, message, "devices", "IB", devices);
  constexpr std::string_view kOob = "; OOB ";
  if (whole && rest->substr(end).starts_with(kOob))
    if (auto interface = interface_in(trimmed(rest->substr(end + kOob.size()))))
      add(facts, message, "interface", "oob", *interface);
  return true;
}

bool read_old_ib_device(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  int number = 0;
  if (!scan.skip("NET/IB: [") || !scan.integer(number) || !scan.skip("] ")) return false;
  std::string_view device = trimmed(scan.rest());
  if (!is_ib_device(device)) return false;
  add(facts, message, "devices", "IB/" + std::to_string(number), device);
  return true;
}

bool read_socket_devices(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "NET/Socket : Using ");
  if (!rest) return false;
  std::string devices;
  while (auto item = next_item(*rest)) {
    auto interface = interface_in(item->text);
    if (!interface) {
      if (!item->last || devices.empty()) return false;
      devices += kCut;
      break;
    }
    if (!devices.empty()) devices += ' ';
    devices += *interface;
  }
  if (devices.empty()) return false;
  add(facts, message, "devices", "Socket", devices);
  return true;
}

bool read_network(const NcclMessage& message, std::vector<Fact>& facts) {
  auto name = after(message, "Using network ");
  if (!name) name = after(message, "Using internal Network ");
  if (!name) name = after(message, "Using external Network ");
  if (!name || name->empty()) return false;
  add(facts, message, "network", "used", *name);
  return true;
}

bool read_plugin(const NcclMessage& message, std::vector<Fact>& facts) {
  std::size_t slash = message.text.find("/Plugin");
  if (slash == kNowhere || !is_upper_name(message.text.substr(0, slash))) return false;
  std::string name(message.text.substr(0, slash));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::size_t colon = message.text.find(':', slash);
  if (colon == kNowhere) return true;
  std::string_view said = trimmed(message.text.substr(colon + 1));
  if (said.find("No plugin found") != kNowhere || said.starts_with("Could not find")) {
    add(facts, message, "plugin", name, "none");
    return true;
  }
  Scan scan(said);
  if (scan.skip("Loaded ")) {  // "net plugin Libfabric (v8)", "collnet plugin SHARP (v8)"
    std::string_view kind = scan.word();
    if (scan.skip(" plugin ") && !scan.done()) add(facts, message, "plugin", kind, scan.rest());
  } else if (scan.skip("Using tuner plugin ") || scan.skip("Using ")) {
    // "Using internal network plugin." is not worth a fact: the line before it says why.
    if (scan.rest().find("internal") == kNowhere) add(facts, message, "plugin", name, scan.rest());
  } else if (scan.skip("Assigned plugin ")) {
    std::string_view plugin = scan.word();
    if (!plugin.empty()) add(facts, message, "plugin", name, plugin);
  }
  return true;
}

bool read_old_tuner(const NcclMessage& message, std::vector<Fact>& facts) {
  auto name = after(message, "Using tuner plugin: '");
  if (!name || !name->ends_with('\'')) return false;
  name->remove_suffix(1);
  add(facts, message, "plugin", "tuner", *name);
  return true;
}

bool read_assigned_plugin(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  if (!scan.skip("Assigned ")) return false;
  std::string_view kind = scan.word();
  if (!scan.skip(" plugin ") || !scan.rest().ends_with(" to comm")) return false;
  std::string_view plugin = scan.rest();
  plugin.remove_suffix(8);
  if (kind != "GIN") return true;  // NET: the line "Using network" says the same
  add(facts, message, "plugin", "gin", plugin);
  return true;
}

bool read_nic_gdr(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kGdr = " : GPU Direct RDMA ";
  std::size_t at = message.text.find(kGdr);
  if (at == kNowhere) return false;
  Scan scan(message.text.substr(at + kGdr.size()));
  bool enabled = scan.skip("Enabled for ");
  if (!enabled && !scan.skip("Disabled for ")) return false;
  std::string_view said = scan.rest();
  std::size_t open = said.find('\'');
  std::size_t close = open == kNowhere ? kNowhere : said.find('\'', open + 1);
  if (close != kNowhere) {
    std::string_view nic = said.substr(open + 1, close - open - 1);
    add(facts, message, "gdr", nic, enabled ? "enabled" : "disabled");
    return true;
  }
  // 2.4: "GPU 3[1] / HCA 0 (distance 2 >= 2)" is about a pair, not a NIC.
  std::size_t end = said.find(" (");
  if (!said.starts_with("GPU ") || end == kNowhere) return false;
  add(facts, message, "gdr_pair", said.substr(0, end), enabled ? "enabled" : "disabled");
  return true;
}

bool read_pair_gdr(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  if (!scan.skip("GPU Direct RDMA ")) return false;
  bool enabled = scan.skip("Enabled for ");
  if (!enabled && !scan.skip("Disabled for ")) return false;
  std::string_view said = scan.rest();
  std::size_t end = said.find(" (distance ");
  if (!said.starts_with("GPU") || end == kNowhere) return false;
  add(facts, message, "gdr_pair", said.substr(0, end), enabled ? "enabled" : "disabled");
  return true;
}

bool read_dmabuf(const NcclMessage& message, std::vector<Fact>& facts) {
  auto device = after(message, "DMA-BUF is available on GPU device ");
  if (!device || !is_integer(*device)) return false;
  add(facts, message, "dmabuf", *device, "available");
  return true;
}

// "Pattern 4, crossNic 0, nChannels 2, bw 24.000000/12.000000, type NVL/PIX, sameChannels 1": the
// rings, with GB/s within a host and between hosts. No test can exceed the latter.
bool read_graph(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kChannels = "nChannels ";
  Scan scan(message.text);
  if (!scan.skip("Pattern ")) return false;
  if (!scan.skip("4, ")) return true;
  const std::size_t at = message.text.find(kChannels);
  if (at == kNowhere) return false;
  scan = Scan(message.text.substr(at + kChannels.size()));
  int channels = 0;
  std::string_view within;
  std::string_view between;
  if (!scan.decimal(channels) || !scan.skip(", bw ") || !scan.until('/', within) ||
      !scan.until(',', between))
    return false;
  double each = 0;
  const auto read = std::from_chars(between.data(), between.data() + between.size(), each);
  if (read.ec != std::errc() || read.ptr != between.data() + between.size()) return false;
  const double all = channels * each;
  if (all > 0 && all < kMostBandwidth)
    add(facts, message, "graph", "rings", fmt::format("{:.1f}", all));
  return true;
}

bool read_channel_counts(const NcclMessage& message, std::vector<Fact>& facts) {
  struct Count {
    std::string_view words;
    std::string_view name;
  };
  constexpr Count kCounts[] = {{" coll channels", "collective"},
                               {" collnet channels", "collnet"},
                               {" nvls channels", "nvls"},
                               {" p2p channels per peer", "p2p_per_peer"},
                               {" p2p channels", "p2p"}};
  std::size_t before = facts.size();
  std::string_view rest = message.text;
  while (!rest.empty()) {
    std::string_view part = rest.substr(0, rest.find(", "));
    rest.remove_prefix(std::min(part.size() + 2, rest.size()));
    const Count* known = std::find_if(std::begin(kCounts), std::end(kCounts),
                                      [&](const Count& c) { return part.ends_with(c.words); });
    if (known == std::end(kCounts)) continue;
    std::string_view number = part.substr(0, part.size() - known->words.size());
    if (is_integer(number)) add(facts, message, "channels", known->name, number);
  }
  return facts.size() != before;
}

bool read_p2p_type(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "Check P2P Type ");
  if (!rest) return false;
  Scan scan(*rest);
  for (scan.skip_blanks(); !scan.done(); scan.skip_blanks()) {
    std::string_view name = scan.word();
    scan.skip_blanks();
    std::string_view value = scan.word();
    if (!is_integer(value)) return false;
    add(facts, message, "p2p", name, value);
  }
  return true;
}

bool read_p2p_chunk(const NcclMessage& message, std::vector<Fact>& facts) {
  auto size = after(message, "P2P Chunksize set to ");
  if (!size || !is_integer(*size)) return false;
  add(facts, message, "p2p", "chunk_size", *size);
  return true;
}

bool read_confidential(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "CC ");
  std::size_t comma = message.text.find(", workFifoBytes ");
  if (!rest || comma == kNowhere || comma < 3) return false;
  add(facts, message, "cc", "mode", message.text.substr(3, comma - 3));
  add(facts, message, "cc", "work_fifo_bytes", message.text.substr(comma + 16));
  return true;
}

bool read_multicast(const NcclMessage& message, std::vector<Fact>& facts) {
  auto rest = after(message, "NVLS multicast support is ");
  if (!rest) return false;
  if (rest->starts_with("available on dev "))
    add(facts, message, "nvls", "multicast", "available");
  else if (rest->starts_with("not available on dev "))
    add(facts, message, "nvls", "multicast", "not available");
  else
    return false;
  return true;
}

bool read_mnnvl(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kFabric = " fabric UUID ";
  std::size_t at = message.text.find(kFabric);
  if (message.text.starts_with("MNNVL busId ") && at != kNowhere) {
    add(facts, message, "mnnvl", "fabric", message.text.substr(at + kFabric.size()));
    return true;
  }
  if (auto rack = after(message, "MNNVL rack serial ")) {
    add(facts, message, "mnnvl", "rack", rack->substr(0, rack->find(' ')));
    return true;
  }
  // "MNNVL 1 cliqueId 7ffe cliqueSize 8 cliqueRank 0": cliqueRank differs on every rank.
  Scan scan(message.text);
  if (!scan.skip("MNNVL ")) return false;
  std::string_view used = scan.word();
  if (!is_integer(used) || !scan.skip(" cliqueId ")) return false;
  std::string_view clique = scan.word();
  if (!scan.skip(" cliqueSize ")) return false;
  std::string_view size = scan.word();
  if (!is_integer(size)) return false;
  add(facts, message, "mnnvl", "used", used);
  add(facts, message, "mnnvl", "clique", clique);
  add(facts, message, "mnnvl", "clique_size", size);
  return true;
}

bool read_affinity(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  if (!scan.skip("Setting affinity for GPU ")) return false;
  std::string_view gpu = scan.word();
  if (!is_integer(gpu) || !scan.skip(" to ") || scan.done()) return false;
  add(facts, message, "affinity", gpu, scan.rest());
  return true;
}

}  // namespace faultline
