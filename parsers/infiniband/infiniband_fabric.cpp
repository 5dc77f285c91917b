// iblinkinfo, ibnetdiscover, ibhosts, ibswitches, sminfo: the nodes and links of a fabric.
#include "parsers/infiniband/infiniband_link_row.h"
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

// --- iblinkinfo

// Switch: 0xb83fd2030011e000 MF0;leaf01:MQM9700/U1:   CA: gpu-7 mlx5_0:
bool read_link_head(std::string_view text, PartWriter& parts) {
  const bool is_switch = take_off(text, "Switch: 0x");
  if ((!is_switch && !take_off(text, "CA: ")) || !text.ends_with(':') || text.starts_with('\''))
    return false;
  text.remove_suffix(1);
  parts.begin_block();
  if (is_switch) {
    parts.block.section = "switch";
    const std::string guid = "0x" + std::string(take_off_word(text));
    set_name(parts.block.names, "node_guid", canonical_guid(guid));
  }
  add_node_names(parts.block.names, text);
  return true;
}

// In line mode the row itself names the near node: 0xb83fd2030011e000 "  MF0;leaf01" 1 2[  ] ==(
void name_near_node(std::string_view before, PartReport& report) {
  const std::string guid = canonical_guid(take_off_word(before));
  set_name(report.names, "guid", guid);
  before = trimmed(before);
  if (before.size() > 2 && before.front() == '"' && before.back() == '"')
    add_node_names(report.names, before.substr(1, before.size() - 2));
}

bool read_link(std::string_view text, PartWriter& parts) {
  auto row = read_link_row(text);
  if (!row) return false;
  const bool line_mode = row->before.find('"') != row->before.npos;
  PartReport report{.tool = "iblinkinfo", .kind = "link"};
  if (!line_mode) report.names = parts.block.names;
  name_near_node(row->before, report);
  for (const NamedValue& name : row->names) set_name(report.names, name.name, name.value);
  report.values = std::move(row->values);
  if (!line_mode && parts.block.section == "switch") set_value(report.values, "switch", "yes");
  parts.give(std::move(report));
  return true;
}

// --- ibnetdiscover

// "H-946dae0300a1b2c2" and "S-…" hold the node's GUID.
std::string guid_of_node_id(std::string_view id) {
  if (!take_off(id, "H-") && !take_off(id, "S-") && !take_off(id, "R-")) return {};
  return canonical_guid("0x" + std::string(id));
}

// Takes the quoted text at the beginning off text. The text after it stays.
std::string_view take_off_quoted(std::string_view& text) {
  text = trimmed(text);
  if (!take_off(text, "\"")) return {};
  const std::size_t end = text.find('"');
  if (end == text.npos) return {};
  const std::string_view quoted = text.substr(0, end);
  text.remove_prefix(end + 1);
  return quoted;
}

// "[1]" and "(946dae0300a1b2c3)"
std::string_view take_off_between(std::string_view& text, char open, char close) {
  if (text.empty() || text.front() != open) return {};
  const std::size_t end = text.find(close);
  if (end == text.npos) return {};
  const std::string_view inner = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return inner;
}

// Switch  65 "S-b83fd2030011e000"   # "MF0;leaf01:MQM9700/U1" enhanced port 0 lid 1 lmc 0
bool read_discovered_node(std::string_view text, PartWriter& parts) {
  const std::string_view type = take_off_word(text);
  if (type != "Switch" && type != "Ca" && type != "Rt") return false;
  if (!is_decimal(take_off_word(text))) return false;
  const std::string guid = guid_of_node_id(take_off_quoted(text));
  text = trimmed(text);
  if (guid.empty() || !take_off(text, "#")) return false;
  parts.begin_block();
  set_name(parts.block.names, "node_guid", guid);
  add_node_names(parts.block.names, take_off_quoted(text));
  if (type != "Switch") return true;
  parts.block.section = "switch";
  if (const std::size_t lid = text.find(" lid "); lid != text.npos) {
    text.remove_prefix(lid + 5);
    set_name(parts.block.names, "lid", assigned_lid(take_off_word(text)));
  }
  return true;
}

void read_rate(std::string_view word, PartReport& report) {
  const std::size_t x = word.find('x');
  if (x == word.npos || !is_decimal(word.substr(0, x))) return;
  set_value(report.values, "width", word.substr(0, x + 1));
  set_value(report.values, "speed", word.substr(x + 1));
}

// [1](946dae0300a1b2c3)  "S-b83fd2030011e000"[1]   # lid 37 lmc 0 "MF0;leaf01:MQM9700/U1" lid 1
// 4xNDR [1]  "H-946dae0300a1b2c2"[1](946dae0300a1b2c3)   # "gpu-7 mlx5_0" lid 37 4xNDR
bool read_discovered_link(std::string_view text, PartWriter& parts) {
  if (parts.block.names.empty()) return false;
  PartReport report{.tool = "ibnetdiscover", .kind = "link", .names = parts.block.names};
  const std::string_view port = take_off_between(text, '[', ']');
  if (!is_decimal(port)) return false;
  set_name(report.names, "port", port);
  const auto name_guid = [&](std::string_view name, std::string_view digits) {
    if (const std::string guid = canonical_guid("0x" + std::string(digits)); !guid.empty())
      set_name(report.names, name, guid);
  };
  if (const std::string_view guid = take_off_between(text, '(', ')'); !guid.empty())
    name_guid("guid", guid);
  const std::string peer_guid = guid_of_node_id(take_off_quoted(text));
  if (peer_guid.empty()) return false;
  set_name(report.names, "peer_node_guid", peer_guid);
  const std::string_view peer_port = take_off_between(text, '[', ']');
  if (!is_decimal(peer_port)) return false;
  set_name(report.names, "peer_port", peer_port);
  if (const std::string_view guid = take_off_between(text, '(', ')'); !guid.empty())
    name_guid("peer_guid", guid);
  text = trimmed(text);
  if (!take_off(text, "#")) return false;
  const std::size_t quote = text.find('"');
  if (quote == text.npos) return false;
  std::string_view near = text.substr(0, quote);
  std::string_view far = text.substr(quote);
  if (take_off_word(near) == "lid")
    set_name(report.names, "lid", assigned_lid(take_off_word(near)));
  add_node_names(report.names, take_off_quoted(far), "peer_");
  if (take_off_word(far) == "lid")
    set_name(report.names, "peer_lid", assigned_lid(take_off_word(far)));
  read_rate(take_off_word(far), report);
  if (parts.block.section == "switch") set_value(report.values, "switch", "yes");
  set_value(report.values, "connected", "yes");
  parts.give(std::move(report));
  return true;
}

}  // namespace

bool begins_iblinkinfo(std::string_view text) {
  switch (text.front()) {
    case 'S':
      return text.starts_with("Switch: 0x");
    case 'C':
      return text.starts_with("CA: ") && text.ends_with(':') && !text.starts_with("CA: '");
    default:
      return is_digit_character(text.front()) && text.find("==(") != text.npos &&
             text.find("==>") != text.npos;
  }
}

bool feed_iblinkinfo(std::string_view text, PartWriter& parts) {
  return read_link_head(text, parts) || read_link(text, parts);
}

bool begins_ibnetdiscover(std::string_view text) {
  switch (text.front()) {
    case 'v':
      return text.starts_with("vendid=0x");
    case 'S':
      return text.starts_with("Switch") && text.find("\"S-") != text.npos;
    case 'C':
      return text.starts_with("Ca") && text.find("\"H-") != text.npos;
    default:
      return false;
  }
}

bool feed_ibnetdiscover(std::string_view text, PartWriter& parts) {
  for (const std::string_view key :
       {"vendid=0x", "devid=0x", "sysimgguid=0x", "switchguid=0x", "caguid=0x", "rtguid=0x"})
    if (text.starts_with(key)) return true;
  if (text.starts_with('#') && !text.starts_with("##")) return true;  // its head
  return read_discovered_node(text, parts) || read_discovered_link(text, parts);
}

bool begins_ibnodes(std::string_view text) {
  switch (text.front()) {
    case 'C':
    case 'S': {
      std::string_view rest = text;
      const std::string_view type = take_off_word(rest);
      return (type == "Ca" || type == "Switch") && trimmed(rest).starts_with(": 0x");
    }
    case 's':
      return text.starts_with("sminfo: sm lid ");
    default:
      return false;
  }
}

bool feed_ibnodes(std::string_view text, PartWriter& parts) {
  if (take_off(text, "sminfo: sm lid ")) {
    PartReport report{.tool = "sminfo", .kind = "subnet_manager"};
    set_name(report.names, "lid", assigned_lid(take_off_word(text)));
    const std::vector<std::string_view> words = words_of(text);
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      std::string_view value = words[i + 1];
      if (value.ends_with(',')) value.remove_suffix(1);
      if (words[i] == "guid") set_name(report.names, "guid", canonical_guid(value));
      if (words[i] == "priority" || words[i] == "state") set_value(report.values, words[i], value);
      if (words[i] == "count") set_value(report.values, "activity count", value);
      if (value.starts_with("SMINFO_")) set_value(report.values, "state", value);
    }
    if (report.values.empty()) return false;
    parts.give(std::move(report));
    return true;
  }
  const std::string_view type = take_off_word(text);
  text = trimmed(text);
  if ((type != "Ca" && type != "Switch") || !take_off(text, ": ")) return false;
  const std::string guid = canonical_guid(take_off_word(text));
  if (guid.empty() || take_off_word(text) != "ports") return false;
  PartReport report{.tool = type == "Ca" ? "ibhosts" : "ibswitches", .kind = "node"};
  set_name(report.names, "node_guid", guid);
  set_value(report.values, "ports", take_off_word(text));
  if (type == "Switch") set_value(report.values, "switch", "yes");
  add_node_names(report.names, take_off_quoted(text));
  if (const std::size_t lid = text.find(" lid "); lid != text.npos) {
    text.remove_prefix(lid + 5);
    set_name(report.names, "lid", assigned_lid(take_off_word(text)));
  }
  parts.give(std::move(report));
  return true;
}

}  // namespace faultline
