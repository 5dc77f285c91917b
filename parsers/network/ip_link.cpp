#include "parsers/network/ip_link.h"

#include <algorithm>
#include <optional>
#include <string>

#include "parsers/tool/part_document.h"
#include "parsers/tool/tool_text.h"

namespace faultline {
namespace {

using namespace tool_text;

struct Interface {
  std::string_view index;
  std::string_view name;
  std::string_view parent;
  std::string_view flags;
  std::string_view rest;
};

// 4: eth0@if5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP
std::optional<Interface> interface_line(std::string_view text) {
  Interface found;
  if (!take_until(text, ": ", found.index) || !is_count(found.index) ||
      !take_until(text, ": <", found.name) || !take_until(text, "> ", found.flags) ||
      !text.starts_with("mtu "))
    return std::nullopt;
  if (found.name.empty() || found.name.find(' ') != std::string_view::npos) return std::nullopt;
  found.rest = text;
  if (const std::size_t at = found.name.find('@'); at != std::string_view::npos) {
    found.parent = found.name.substr(at + 1);
    found.name = found.name.substr(0, at);
  }
  return found;
}

class IpLink : public PartDocument {
 public:
  IpLink() : PartDocument("ip-link") {}

 private:
  Line read(std::string_view text) override {
    text = trimmed(text);
    if (const auto found = interface_line(text)) {
      give_all();
      words_.clear();
      read_interface(*found);
      return Line::part;
    }
    if (last() == nullptr) return Line::foreign;
    return read_detail(text) ? Line::part : Line::foreign;
  }

  void read_interface(const Interface& found) {
    OpenPart& part = open("netdev");
    part.name("netdev", found.name);
    part.name("index", found.index);
    part.value("flags", found.flags);
    if (!found.parent.empty()) part.value("link", found.parent);
    auto words = words_of(found.rest);
    if (cut()) words.pop_back();
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) part.value(words[i], words[i + 1]);
  }

  bool read_detail(std::string_view text) {
    if (!words_.empty() && read_counters(text)) return true;
    const auto words = words_of(text);
    if (text.starts_with("RX:") || text.starts_with("TX:") || text.starts_with("RX errors:") ||
        text.starts_with("TX errors:")) {
      words_.clear();
      const std::size_t colon = text.find(':');
      word(text.substr(0, colon));
      for (const std::string_view column : words_of(text.substr(colon + 1))) word(column);
      return true;
    }
    if (text.starts_with("link/")) {
      last()->value("link_type", words[0].substr(5));
      if (words.size() > 1) last()->value("address", words[1]);
      return true;
    }
    if (words[0] == "altname" && words.size() == 2) {
      last()->name("altname", words[1]);
      return true;
    }
    if ((words[0] == "inet" || words[0] == "inet6") && words.size() > 1) {
      last()->value(words[0], words[1]);
      return true;
    }
    constexpr std::string_view kKnown[] = {"vf",   "valid_lft",    "alias", "bond_slave",
                                           "vlan", "bridge_slave", "bond",  "openvswitch_slave"};
    return std::ranges::find(kKnown, words[0]) != std::end(kKnown);
  }

  // The numbers below "RX: bytes packets errors dropped missed mcast".
  bool read_counters(std::string_view text) {
    const auto numbers = words_of(text);
    const bool fits = numbers.size() + 1 == words_.size() && std::ranges::all_of(numbers, is_count);
    for (std::size_t i = 0; fits && i < numbers.size(); ++i)
      last()->value(words_[0] + " / " + words_[i + 1], numbers[i]);
    words_.clear();
    return fits;
  }
};

}  // namespace

bool begins_ip_link(std::string_view text) {
  text.remove_prefix(indentation(text));
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         interface_line(text).has_value();
}

std::unique_ptr<Document> make_ip_link() { return std::make_unique<IpLink>(); }

}  // namespace faultline
