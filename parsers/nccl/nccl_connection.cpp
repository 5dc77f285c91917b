#include "parsers/nccl/nccl_connection.h"

#include <charconv>
#include <optional>
#include <string>

#include "parsers/scan.h"

namespace faultline {
namespace {

constexpr auto kNowhere = std::string_view::npos;

// "3", "3[1b000]"
bool read_rank(Scan& scan, int& rank) {
  if (!scan.integer(rank)) return false;
  if (!scan.skip("[")) return true;
  std::uint64_t device = 0;  // a bus id or a device, by version
  return scan.hex(device) && scan.skip("]");
}

std::optional<double> seconds_in(std::string_view text) {
  double seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return seconds;
}

// "/GDRDMA", "/GDRDMA(PCI)", "/Shared", "/flush=…". If only a part of a suffix is there, the line
// was cut, and the connection is not known.
bool read_suffixes(std::string_view text, PeerConnection& connection) {
  while (!text.empty()) {
    if (text[0] != '/') return false;
    std::string_view suffix = text.substr(0, text.find('/', 1));
    text.remove_prefix(suffix.size());
    if (suffix == "/GDRDMA" || suffix == "/GDRDMA(PCI)")
      connection.gdr = true;
    else if (suffix == "/Shared")
      connection.shared = true;
    else if (!suffix.starts_with("/flush="))
      return false;
  }
  return true;
}

// "NET/IB/1/GDRDMA", "NET/AWS Libfabric/0(3)/Shared": the name ends before a number between
// slashes.
bool read_net(std::string_view via, PeerConnection& connection) {
  std::size_t name = via.find('/');
  for (std::size_t slash = via.find('/', name + 1); slash != kNowhere;
       slash = via.find('/', slash + 1)) {
    Scan scan(via.substr(slash + 1));
    if (!scan.integer(connection.device)) continue;
    if (scan.skip("(")) {
      int rank = 0;
      if (!scan.integer(rank) || !scan.skip(")")) return false;
      connection.proxy_rank = rank;
    }
    if (!scan.done() && scan.peek() != '/') continue;
    connection.transport = via.substr(0, slash);
    return read_suffixes(scan.rest(), connection);
  }
  return false;
}

bool read_p2p(std::string_view via, PeerConnection& connection) {
  constexpr std::string_view kWays[] = {"P2P/direct pointer", "P2P/IPC",           "P2P/CUMEM",
                                        "P2P/MNNVL",          "P2P/common device", "P2P/indirect"};
  for (std::string_view way : kWays) {
    if (!via.starts_with(way)) continue;
    connection.transport = way;
    Scan scan(via.substr(way.size()));
    if (way == "P2P/indirect") {  // through another GPU: "/3[1b000]"
      int rank = 0;
      if (!scan.skip("/") || !read_rank(scan, rank)) return false;
      connection.proxy_rank = rank;
    }
    while (scan.skip("/read") || scan.skip("/CE")) {
    }
    return scan.done();
  }
  return false;
}

bool read_shm(std::string_view via, PeerConnection& connection) {
  if (via == "direct shared memory" || via == "SHM/direct" || via == "SHM/direct/direct")
    connection.transport = "SHM/direct";
  else if (via == "SHM/CE/CE" || via == "SHM/direct/CE" || via == "SHM/CE/direct")
    connection.transport = via;
  else
    return false;
  return true;
}

bool read_via(std::string_view via, PeerConnection& connection) {
  if (via.starts_with("NET/") || via.starts_with("COLLNET/")) return read_net(via, connection);
  if (via.starts_with("P2P/")) return read_p2p(via, connection);
  return read_shm(via, connection);
}

bool read_direction(Scan& scan, PeerConnection& connection) {
  if (scan.skip("[send] "))
    connection.direction = "send";
  else if (scan.skip("[receive] "))
    connection.direction = "receive";
  else
    return false;
  return true;
}

// "Channel 00/0 : "
bool read_channel(Scan& scan, int& channel) {
  int ignored = 0;
  if (!scan.skip("Channel ") && !scan.skip("Ring ") && !scan.skip("CollNet ")) return false;
  if (!scan.integer(channel)) return false;
  if (scan.skip("/") && !scan.integer(ignored)) return false;
  return scan.skip(" : ");
}

}  // namespace

bool read_peer_connection(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  int channel = 0;
  PeerConnection connection;
  if (!read_channel(scan, channel)) return false;
  if (!read_rank(scan, connection.from) || !scan.skip(" -> ")) return false;
  if (!read_rank(scan, connection.to) || !scan.skip(" ")) return false;
  read_direction(scan, connection);
  if (!scan.skip("via ") || !read_via(scan.rest(), connection)) return false;
  connection.thread = message.thread;
  facts.emplace_back(std::move(connection));
  return true;
}

bool read_collnet_connection(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  int channel = 0;
  int rank = 0;
  PeerConnection connection;
  if (!read_channel(scan, channel) || !scan.integer(rank) || !scan.skip(" ")) return false;
  if (!read_direction(scan, connection)) return false;
  if (!scan.skip("via ") || !read_via(scan.rest(), connection)) return false;
  const bool sends = connection.direction == "send";
  connection.from = sends ? rank : -1;  // the other end is the switch
  connection.to = sends ? -1 : rank;
  connection.thread = message.thread;
  facts.emplace_back(std::move(connection));
  return true;
}

bool read_ring(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  int channel = 0;
  if (!read_channel(scan, channel)) return false;
  std::string ranks;
  for (scan.skip_blanks(); !scan.done(); scan.skip_blanks()) {
    std::string_view rank = scan.word();
    int ignored = 0;
    Scan number(rank);
    bool last = rank == "..." || rank.ends_with("...");
    if (!last && (!number.integer(ignored) || !number.done())) return false;
    if (!ranks.empty()) ranks += ' ';
    ranks += rank;
  }
  if (ranks.empty()) return false;
  facts.emplace_back(Setting{"ring", std::to_string(channel), std::move(ranks), message.thread});
  return true;
}

bool read_connected(const NcclMessage& message, std::vector<Fact>& facts) {
  struct Step {
    std::string_view text;
    std::string_view step;
  };
  constexpr Step kSteps[] = {{"Connected all rings", "rings"},
                             {"Connected all trees", "trees"},
                             {"Connected binomial trees", "binomial trees"},
                             {"Connected NVLS tree", "nvls"},
                             {"Connected collnet + chain", "collnet"}};
  for (const Step& known : kSteps) {
    if (!message.text.starts_with(known.text)) continue;
    std::string_view rest = message.text.substr(known.text.size());
    if (!rest.empty() && rest[0] != ',') return false;
    facts.emplace_back(SetupStep{std::string(known.step), std::nullopt, message.thread});
    return true;
  }
  return false;
}

bool read_rank_connected(const NcclMessage& message, std::vector<Fact>& facts) {
  Scan scan(message.text);
  int rank = 0;
  if (!scan.skip("rank ") || !scan.integer(rank) || scan.rest() != " Connected CollNet")
    return false;
  facts.emplace_back(SetupStep{"collnet", std::nullopt, message.thread});
  return true;
}

bool read_bootstrap_timings(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kBefore = "Bootstrap timings total ";
  if (!message.text.starts_with(kBefore) || !message.text.ends_with(')')) return false;
  auto seconds = seconds_in(message.text.substr(kBefore.size()));
  if (!seconds) return false;
  facts.emplace_back(SetupStep{"bootstrap", seconds, message.thread});
  return true;
}

bool read_init_timings(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kBefore = " total ";
  std::size_t at = message.text.find(kBefore);
  if (at == kNowhere || !message.text.ends_with(')')) return false;
  auto seconds = seconds_in(message.text.substr(at + kBefore.size()));
  if (!seconds) return false;
  facts.emplace_back(SetupStep{"init", seconds, message.thread});
  return true;
}

bool read_connect_timings(const NcclMessage& message, std::vector<Fact>& facts) {
  constexpr std::string_view kBefore = " P2p connect done in ";
  std::size_t at = message.text.find(kBefore);
  if (at == kNowhere) return false;
  auto seconds = seconds_in(message.text.substr(at + kBefore.size()));
  if (!seconds) return false;
  facts.emplace_back(SetupStep{"p2p", seconds, message.thread});
  return true;
}

}  // namespace faultline
