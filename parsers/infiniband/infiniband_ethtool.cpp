// ethtool -S, ethtool and ethtool -m of an interface. Only the command and the title of the
// settings name the interface.
#include <algorithm>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kStatistics = "ethtool_statistics";
constexpr std::string_view kSettings = "ethtool";
constexpr std::string_view kModule = "ethtool_module";

void open(std::string_view tool, std::string_view netdev, PartWriter& parts) {
  parts.begin_block();
  parts.block.section = tool;
  parts.open(tool, "netdev");
  parts.name("netdev", netdev);
}

// rx12_packets, tx0_bytes, ch3_poll, rx_queue_4_drops, [7]: rx_bytes: one of hundreds of queues.
bool is_of_queue(std::string_view name) {
  for (const std::string_view direction : {"rx", "tx", "ch"})
    if (name.starts_with(direction) && name.size() > 2 &&
        (is_digit_character(name[2]) || name.substr(2).starts_with("_queue_") ||
         name.substr(2).starts_with("-")))
      return true;
  return name.starts_with('[') || name.starts_with("queue_");
}

bool is_counter_name(std::string_view name) {
  return !name.empty() && name.size() < 64 &&
         std::ranges::all_of(
             name,
             [](char c) {
               return is_letter_character(c) || is_digit_character(c) || c == '_' || c == '-' ||
                      c == '.' || c == '[' || c == ']' || c == '(' || c == ')' || c == ' ';
             });
}

bool read_statistic(std::string_view text, PartWriter& parts) {
  const std::size_t colon = text.rfind(": ");
  if (colon == text.npos) return false;
  const std::string_view name = text.substr(0, colon);
  const std::string_view value = trimmed(text.substr(colon + 2));
  if (!is_decimal(value)) return false;
  if (is_of_queue(name)) return true;
  if (!is_counter_name(name)) return false;
  parts.value(name, value);
  return true;
}

// A list of modes may have many lines: "100000baseKR4/Full", "200000baseCR4/Full".
bool read_setting(std::string_view text, PartWriter& parts) {
  if (is_digit_character(text.front()) && text.find("base") != text.npos) return true;
  const auto row = key_and_value(text);
  if (!row) return text == "drv probe link" || text.starts_with("drv ");
  for (const std::string_view list : {"Supported ", "Advertised ", "Link partner "})
    if (row->key.starts_with(list)) return true;
  for (const std::string_view key :
       {"Speed", "Lanes", "Duplex", "Auto-negotiation", "Port", "PHYAD", "Transceiver", "MDI-X",
        "Supports Wake-on", "Wake-on", "Current message level", "Link detected", "SQI"})
    if (row->key == key) {
      parts.value(row->key, row->value);
      return true;
    }
  return false;
}

bool read_module_row(std::string_view text, PartWriter& parts) {
  const auto row = padded_key_and_value(text);
  if (!row) return false;
  parts.value(row->key, row->value);
  return true;
}

// "Settings for ens1f0np0:"
std::string_view settings_of(std::string_view text) {
  if (!take_off(text, "Settings for ") || !text.ends_with(':')) return {};
  text.remove_suffix(1);
  return text.find(' ') == text.npos ? text : std::string_view();
}

bool begins_module(std::string_view text) {
  if (!text.starts_with("Identifier ")) return false;
  const auto row = padded_key_and_value(text);
  return row && row->value.starts_with("0x");
}

bool is_failure(std::string_view text) {
  return text == "no stats available" || text.starts_with("netlink error: ") ||
         text.starts_with("Cannot get device settings: ") ||
         text.starts_with("Cannot get stats strings information: ");
}

}  // namespace

bool begins_ethtool(std::string_view text) {
  switch (text.front()) {
    case 'N':
      return text == "NIC statistics:";
    case 'S':
      return !settings_of(text).empty();
    case 'I':
      return begins_module(text);
    case 'n':
    case 'C':
      return is_failure(text);
    default:
      return false;
  }
}

bool feed_ethtool(std::string_view text, PartWriter& parts) {
  const std::string_view netdev = parts.context.netdev;
  if (text == "NIC statistics:") {
    open(kStatistics, netdev, parts);
    return true;
  }
  if (const std::string_view of = settings_of(text); !of.empty()) {
    open(kSettings, of, parts);
    return true;
  }
  if (begins_module(text)) open(kModule, netdev, parts);
  if (is_failure(text)) {
    if (!parts.is_open()) open(kSettings, netdev, parts);
    parts.value("error", text);
    return true;
  }
  if (!parts.is_open()) return false;
  if (parts.block.section == kStatistics) return read_statistic(text, parts);
  if (parts.block.section == kSettings) return read_setting(text, parts);
  return read_module_row(text, parts);
}

}  // namespace faultline
