// The output of a SONiC switch: "show pfcwd stats" (the pause storms that its watchdog saw in each
// queue), "show interfaces counters" and "show interface status".
#include <algorithm>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

using Words = std::vector<std::string_view>;

// The name of the switch. Only a prompt shows it.
std::string_view name_of_switch(const PartWriter& parts) {
  return parts.context.host.empty() ? std::string_view("SONiC") : parts.context.host;
}

// Ethernet8, Ethernet1_2, Ethernet-BP260
bool is_switch_port(std::string_view word) {
  return take_off(word, "Ethernet") && !word.empty() &&
         word.find_first_not_of("0123456789_-/BPREC") == word.npos;
}

struct Pair {
  std::string_view first;
  std::string_view second;
};

// "3/2"
std::optional<Pair> pair_in(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos) return std::nullopt;
  const Pair pair{word.substr(0, slash), word.substr(slash + 1)};
  return is_decimal(pair.first) && is_decimal(pair.second) ? std::optional(pair) : std::nullopt;
}

struct Storms {
  std::string_view port;
  std::string_view queue;
  std::string_view status;
  std::string_view detected;
};

// Ethernet8:4      stormed                        3/2       100/300       100/300    …
std::optional<Storms> storms_in(const Words& words) {
  if (words.size() < 5 || words.size() > 7) return std::nullopt;
  const std::size_t colon = words[0].find(':');
  if (colon == words[0].npos || !is_switch_port(words[0].substr(0, colon)) ||
      !is_decimal(words[0].substr(colon + 1)))
    return std::nullopt;
  if (words[1] != "stormed" && words[1] != "operational" && words[1] != "N/A") return std::nullopt;
  if (!std::all_of(words.begin() + 2, words.end(),
                   [](std::string_view word) { return pair_in(word).has_value(); }))
    return std::nullopt;
  return Storms{words[0].substr(0, colon), words[0].substr(colon + 1), words[1],
                pair_in(words[2])->first};
}

struct PortState {
  std::string_view port;
  std::string_view reason;
};

// Ethernet1   PC1 server-1…   down   err-disabled   off   10000   9036   Eth1/2
std::optional<PortState> state_in(const Words& words) {
  constexpr std::size_t kBehindReason = 3;  // columns: autonegotiation, speed, MTU
  if (words.empty() || !is_switch_port(words[0])) return std::nullopt;
  for (std::size_t i = 1; i + 1 + kBehindReason < words.size(); ++i)
    if ((words[i] == "up" || words[i] == "down") &&
        (words[i + 2] == "on" || words[i + 2] == "off") && is_decimal(words[i + 3]) &&
        is_decimal(words[i + 4]))
      return PortState{words[0], words[i + 1]};
  return std::nullopt;
}

void begin_port(PartReport& report, std::string_view port, const PartWriter& parts) {
  report.kind = "port";
  set_name(report.names, "node", name_of_switch(parts));
  set_name(report.names, "port", port);
}

bool is_ruler(std::string_view text) {
  return text.starts_with("---") && text.find_first_not_of("- ") == text.npos;
}

// A count without the commas between thousands; empty: it is not a count.
std::string count_in(std::string_view word) {
  std::string digits;
  for (const char c : word)
    if (c != ',') digits += c;
  return is_decimal(digits) ? digits : std::string();
}

}  // namespace

bool begins_pfcwd(std::string_view text) {
  if (text.starts_with("QUEUE")) return text.find("STORM DETECTED/RESTORED") != text.npos;
  return text.starts_with("Ethernet") && storms_in(words_of(text));
}

bool feed_pfcwd(std::string_view text, PartWriter& parts) {
  if (text.starts_with("QUEUE") && begins_pfcwd(text)) {
    parts.begin_block();
    return true;
  }
  if (is_ruler(text)) return true;
  const auto storms = storms_in(words_of(text));
  if (!storms) return false;
  PartReport report{.tool = "pfcwd"};
  begin_port(report, storms->port, parts);
  const std::string queue = "queue " + std::string(storms->queue);
  set_value(report.values, queue, storms->status);
  set_value(report.values, "storms of " + queue, storms->detected);
  parts.give(std::move(report));
  return true;
}

bool begins_portstat(std::string_view text) {
  constexpr std::size_t kLongestHead = 512;
  if (!text.starts_with("IFACE") || text.size() > kLongestHead) return false;
  const Words words = words_of(text);
  return words.size() > 3 && words[0] == "IFACE" && words[1] == "STATE" &&
         std::ranges::find(words, "RX_ERR") != words.end();
}

// Counts of an unnamed switch are ignored: the same port of two switches would look like one port
// with growing counts.
bool feed_portstat(std::string_view text, PartWriter& parts) {
  // A rate and its unit are two words but one column: "2000.00 MB/s".
  const auto is_unit = [](std::string_view word) { return word.ends_with("B/s"); };
  if (begins_portstat(text)) {
    parts.begin_block();
    parts.block.section = text;
    return true;
  }
  if (is_ruler(text)) return true;
  if (!text.starts_with("Ethernet")) return false;
  const Words columns = words_of(parts.block.section);
  Words cells = words_of(text);
  std::erase_if(cells, is_unit);
  if (cells.empty() || !is_switch_port(cells[0]) || cells.size() != columns.size()) return false;
  PartReport report{.tool = "portstat"};
  begin_port(report, cells[0], parts);
  for (std::size_t i = 2; i < columns.size(); ++i)
    if (columns[i].ends_with("_ERR") || columns[i].ends_with("_DRP"))
      if (const std::string count = count_in(cells[i]); !count.empty())
        set_value(report.values, columns[i], count);
  if (!report.values.empty() && !parts.context.host.empty()) parts.give(std::move(report));
  return true;
}

bool begins_intfstat(std::string_view text) {
  if (text.starts_with("Ethernet")) return state_in(words_of(text)).has_value();
  return text.starts_with("Name ") && text.find(" Oper ") != text.npos &&
         text.find(" Reason ") != text.npos;
}

// The table does not say whether a port is in use. So only a port that the switch itself took down
// is a fault.
bool feed_intfstat(std::string_view text, PartWriter& parts) {
  if (text.starts_with("Name ") && begins_intfstat(text)) {
    parts.begin_block();
    return true;
  }
  if (is_ruler(text)) return true;
  const auto state = state_in(words_of(text));
  if (!state) return false;
  PartReport report{.tool = "intfstat"};
  begin_port(report, state->port, parts);
  set_value(report.values, "reason", state->reason);
  parts.give(std::move(report));
  return true;
}

}  // namespace faultline
