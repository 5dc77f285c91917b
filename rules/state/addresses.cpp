#include "rules/state/addresses.h"

#include <algorithm>
#include <cctype>

#include "rules/state/sources.h"

namespace faultline {
namespace {

constexpr std::size_t kMostAddresses = 16384;
constexpr std::size_t kMostAddressesOfAHost = 64;
constexpr std::size_t kMostProcesses = 65536;
constexpr std::size_t kMostLists = 4096;
constexpr std::size_t kMostDevices = 128;
constexpr std::size_t kLongestName = 128;

bool is_ipv4(std::string_view text) {
  return std::ranges::count(text, '.') == 3 && std::ranges::all_of(text, [](char c) {
           return c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

bool is_ipv6(std::string_view text) {
  return std::ranges::count(text, ':') >= 2 && std::ranges::all_of(text, [](char c) {
           return c == ':' || c == '.' || std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

// RoCE writes an IPv4 address as the IPv6 address ::ffff:10.0.0.12.
std::string_view without_mapping(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  const bool mapped = address.starts_with(kMapped) && is_ipv4(address.substr(kMapped.size()));
  return mapped ? address.substr(kMapped.size()) : address;
}

template <class OnWord>
void for_each_word(std::string_view text, OnWord&& on_word) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) on_word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

const std::vector<std::string> kNone;

}  // namespace

std::string bare_address(std::string_view text) {
  text = text.substr(0, text.find('<'));
  if (text.starts_with('[')) text = text.substr(1, text.find(']') - 1);
  text = text.substr(0, text.find('%'));
  if (is_ipv4(text)) return std::string(text);
  if (is_ipv6(text)) return std::string(without_mapping(text));
  // An interface is in front of the address, or a port behind it.
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view before = text.substr(0, colon);
  const std::string_view after = text.substr(colon + 1);
  if (is_ipv4(before)) return std::string(before);
  if (is_ipv4(after)) return std::string(after);
  if (is_ipv6(after)) return std::string(without_mapping(after));
  const std::string_view without_port = after.substr(0, after.rfind(':'));
  return is_ipv4(without_port) ? std::string(without_port) : std::string();
}

std::string device_without_link(std::string_view item) {
  std::string name;
  while (!item.empty()) {
    const std::string_view part = item.substr(0, item.find('+'));
    if (!name.empty()) name += '+';
    name += part.substr(0, part.find('/'));
    item.remove_prefix(std::min(part.size() + 1, item.size()));
  }
  return name;
}

void AddressBook::apply(const Source& origin, const Batch& batch, const Event& event) {
  const auto* setting = std::get_if<Setting>(&event.fact);
  if (setting == nullptr) return;
  const Speaker& speaker = batch.speakers[event.speaker];
  const std::string host = short_host(speaker.host.empty() ? origin.host : speaker.host);
  if (setting->group == "interface") {
    learn_address(host, setting->value);
  } else if (setting->group == "devices") {
    const bool socket = setting->name == "Socket";
    if (!socket && setting->name != "IB") return;  // 2.3 prints a line for each device
    Devices devices;
    for_each_word(setting->value, [&](std::string_view item) {
      if (socket) learn_address(host, item);
      if (item == "...") return;  // the line was cut there
      if (devices.size() < kMostDevices && item.size() <= kLongestName)
        devices.push_back(socket ? std::string(item.substr(0, item.find(':')))
                                 : device_without_link(item));
    });
    std::map<ProcessKey, std::uint32_t>& of_process = socket ? sockets_ : rdma_;
    if (devices.empty() || of_process.size() >= kMostProcesses) return;
    auto known = known_lists_.find(devices);
    if (known == known_lists_.end()) {
      if (lists_.size() >= kMostLists) return;
      known = known_lists_.emplace(devices, lists_.size()).first;
      lists_.push_back(std::move(devices));
    }
    of_process.try_emplace(process_of(origin, speaker), known->second);
  }
}

void AddressBook::learn_address(const std::string& host, std::string_view item) {
  std::string address = bare_address(item);
  if (host.empty() || address.empty() || each_host_has(address) || address.size() > kLongestName ||
      hosts_.size() >= kMostAddresses)
    return;
  auto [known, is_new] = hosts_.try_emplace(address, host);
  if (!is_new && known->second != host) known->second.clear();
  std::vector<std::string>& own = addresses_[host];
  if (own.size() < kMostAddressesOfAHost && std::ranges::find(own, address) == own.end())
    own.push_back(std::move(address));
}

std::string AddressBook::host_of_address(std::string_view address) const {
  const auto known = hosts_.find(bare_address(address));
  return known == hosts_.end() ? std::string() : known->second;
}

std::vector<std::string> AddressBook::addresses_of(std::string_view host) const {
  const auto known = addresses_.find(host);
  return known == addresses_.end() ? kNone : known->second;
}

std::string AddressBook::device_name(const ProcessKey& process, int index,
                                     std::string_view network) const {
  const Devices& devices = devices_of(process, network);
  const auto at = static_cast<std::size_t>(index);
  return index >= 0 && at < devices.size() ? devices[at] : std::string();
}

const std::vector<std::string>& AddressBook::devices_of(const ProcessKey& process,
                                                        std::string_view network) const {
  const auto& of_process = network == "Socket" ? sockets_ : rdma_;
  const auto known = of_process.find(process);
  return known == of_process.end() ? kNone : lists_[known->second];
}

bool each_host_has(std::string_view address) {
  constexpr std::string_view kBridgeOfDocker = "172.17.0.1";
  return address.starts_with("127.") || address == "::1" || address == "0.0.0.0" ||
         address == "::" || address == kBridgeOfDocker;
}

}  // namespace faultline
