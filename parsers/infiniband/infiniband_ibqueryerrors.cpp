// ibqueryerrors, and the older ibcheckerrors: the ports of a fabric whose counters are not zero.
#include <array>
#include <utility>

#include "parsers/infiniband/infiniband_link_row.h"
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kTool = "ibqueryerrors";

// Each parent counter has four detail counters. Their order here shows which ones correspond.
constexpr std::array<std::string_view, 4> kDiscardDetails{
    "PortInactiveDiscards", "PortNeighborMTUDiscards", "PortSwLifetimeLimitDiscards",
    "PortSwHOQLifetimeLimitDiscards"};
constexpr std::array<std::string_view, 4> kErrorDetails{
    "PortLocalPhysicalErrors", "PortMalformedPktErrors", "PortBufferOverrunErrors",
    "PortDLIDMappingErrors"};

// A bug in --details: each group is printed with the names of the other group. The parent counter,
// which is printed before the group, shows which group it really is.
std::string_view real_name(std::string_view name, std::string_view parent) {
  const bool discards = parent == "PortXmitDiscards";
  if (!discards && parent != "PortRcvErrors") return name;
  const auto& printed = discards ? kErrorDetails : kDiscardDetails;
  const auto& real = discards ? kDiscardDetails : kErrorDetails;
  for (std::size_t i = 0; i < printed.size(); ++i)
    if (printed[i] == name) return real[i];
  return name;
}

bool is_detail(std::string_view name) {
  for (const auto& details : {kDiscardDetails, kErrorDetails})
    for (const std::string_view detail : details)
      if (name == detail) return true;
  return false;
}

// Errors for 0xb83fd2030011e000 "MF0;leaf01:MQM9700/U1", Errors for "gpu-7 mlx5_1"
bool read_node(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "Errors for ") && !take_off(text, "Data Counters for ")) return false;
  const std::size_t first = text.find('"');
  const std::size_t last = text.rfind('"');
  if (first == last) return false;
  parts.begin_block();
  if (const std::string guid = canonical_guid(trimmed(text.substr(0, first))); !guid.empty()) {
    set_name(parts.block.names, "node_guid", guid);
    parts.block.section = "switch";
  }
  add_node_names(parts.block.names, text.substr(first + 1, last - first - 1));
  return true;
}

// [SymbolErrorCounter == 412 (412.000)] [LinkDownedCounter == 6 (6.000)]
bool read_items(std::string_view text, std::vector<NamedValue>& values) {
  std::string_view parent;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    if (!take_off(text, "[")) return false;
    const std::size_t end = text.find(']');
    if (end == text.npos) return false;
    std::string_view item = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::string_view name = take_off_word(item);
    if (take_off_word(item) != "==") return false;
    const std::string_view value = take_off_word(item);
    if (!is_number(value)) return false;
    if (!is_detail(name)) parent = name;
    set_value(values, real_name(name, parent), value);
  }
  return !values.empty();
}

// GUID 0xb83fd2030011e000 port 2: [...]
bool read_port(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "GUID ")) return false;
  const std::string guid = canonical_guid(take_off_word(text));
  if (guid.empty() || take_off_word(text) != "port") return false;
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return false;
  const std::string_view port = trimmed(text.substr(0, colon));
  if (port != "ALL" && !is_decimal(port)) return false;
  PartReport report{.tool = std::string(kTool), .kind = "port", .names = parts.block.names};
  if (parts.block.section == "switch") set_value(report.values, "switch", "yes");
  std::vector<NamedValue> items;
  if (!read_items(text.substr(colon + 1), items)) return false;
  for (const NamedValue& item : items) set_value(report.values, item.name, item.value);
  set_name(report.names, "guid", guid);
  set_name(report.names, "port", port_name(port));
  parts.give(std::move(report));
  set_value(parts.block.values, "guid", guid);  // for the row of the link that may follow
  return true;
}

bool read_link(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "Link info:")) return false;
  auto row = read_link_row(text);
  if (!row) return false;
  PartReport report{.tool = std::string(kTool), .kind = "link", .names = parts.block.names};
  set_name(report.names, "guid", value_of(parts.block.values, "guid"));
  for (const NamedValue& name : row->names) set_name(report.names, name.name, name.value);
  report.values = std::move(row->values);
  if (parts.block.section == "switch") set_value(report.values, "switch", "yes");
  parts.give(std::move(report));
  return true;
}

// "34 nodes checked, 2 bad nodes found", "1088 ports checked, 3 ports have errors beyond threshold"
void read_counts(std::string_view text, PartWriter& parts) {
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::string_view count = take_off_word(part);
    if (is_decimal(count)) parts.value(trimmed(part), count);
  }
}

bool read_summary(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "##")) return false;
  text = trimmed(text);
  if (take_off(text, "Summary:")) {
    parts.begin_block();
    parts.open(kTool, "fabric");
    read_counts(text, parts);
  } else if (take_off(text, "Thresholds:")) {
    if (text = trimmed(text); text != "(null)") parts.value("Thresholds", text);
  } else if (take_off(text, "Suppressed:")) {
    parts.value("Suppressed", trimmed(text));
    parts.close();
  } else {
    read_counts(text, parts);
  }
  return true;
}

// #warn: counter SymbolErrorCounter = 32 (threshold 10) lid 37 port 1
bool read_old_warning(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "#warn: counter ")) return false;
  const std::string_view name = take_off_word(text);
  if (take_off_word(text) != "=") return false;
  const std::string_view value = take_off_word(text);
  const std::size_t lid = text.rfind(" lid ");
  const std::size_t port = text.rfind(" port ");
  if (!is_number(value) || lid == text.npos || port == text.npos || port < lid) return false;
  PartReport report{.tool = "ibcheckerrors", .kind = "port"};
  const std::string assigned = assigned_lid(trimmed(text.substr(lid + 5, port - lid - 5)));
  if (assigned.empty()) return false;
  set_name(report.names, "lid", assigned);
  set_name(report.names, "port", port_name(trimmed(text.substr(port + 6))));
  set_value(report.values, name, value);
  parts.give(std::move(report));
  return true;
}

// Error check on lid 37 (gpu-7 mlx5_0) port 1: FAILED
bool read_old_verdict(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "Error check on lid ")) return false;
  const std::string lid = assigned_lid(take_off_word(text));
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(") port ");
  const std::size_t colon = text.rfind(':');
  if (lid.empty() || open == text.npos || close == text.npos || close < open ||
      colon == text.npos || colon < close + 7)
    return false;
  PartReport report{.tool = "ibcheckerrors", .kind = "port"};
  set_name(report.names, "lid", lid);
  add_node_names(report.names, text.substr(open + 1, close - open - 1));
  const std::string_view port = trimmed(text.substr(close + 7, colon - close - 7));
  set_name(report.names, "port", port_name(port == "all" ? "255" : port));
  set_value(report.values, "check", trimmed(text.substr(colon + 1)));
  parts.give(std::move(report));
  return true;
}

}  // namespace

bool begins_ibqueryerrors(std::string_view text) {
  switch (text.front()) {
    case 'E':
      return (text.starts_with("Errors for ") && text.ends_with('"')) ||
             text.starts_with("Error check on lid ");
    case 'D':
      return text.starts_with("Data Counters for ");
    case 'G':
      return text.starts_with("GUID 0x") && text.find(" port ") != text.npos;
    case '#':
      return text.starts_with("## Summary: ") || text.starts_with("#warn: counter ");
    default:
      return false;
  }
}

bool feed_ibqueryerrors(std::string_view text, PartWriter& parts) {
  return read_node(text, parts) || read_port(text, parts) || read_link(text, parts) ||
         read_summary(text, parts) || read_old_warning(text, parts) ||
         read_old_verdict(text, parts);
}

}  // namespace faultline
