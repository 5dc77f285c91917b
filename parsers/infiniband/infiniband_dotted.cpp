// perfquery, smpquery, ibportstate: rows such as "SymbolErrorCounter:..............0" under a title
// such as "# Port counters: …".
#include <algorithm>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kCounters = " counters: ";
constexpr std::string_view kInfo = " info: ";
constexpr std::string_view kAfterSet = "After PortInfo set:";  // by ibportstate disable

// Counters of different width have the same names: only the title distinguishes them.
std::string tool_of(std::string_view title) {
  if (title == "Port") return "perfquery";
  if (title == "Port extended") return "perfquery_extended";
  if (title == "PortXmitDiscardDetails") return "perfquery_xmit_discards";
  if (title == "PortRcvErrorDetails") return "perfquery_rcv_errors";
  if (title.starts_with("PortExtendedSpeedsCounters")) return "perfquery_extended_speeds";
  return "perfquery_" + std::string(title);
}

// The tool of a block whose title was lost.
std::string_view tool_of_first_counter(std::string_view name) {
  if (name == "PortXmitData" || name == "PortRcvData") return "perfquery_extended";
  if (name == "PortInactiveDiscards") return "perfquery_xmit_discards";
  if (name == "PortLocalPhysicalErrors") return "perfquery_rcv_errors";
  if (name == "SyncHeaderErrorCounter") return "perfquery_extended_speeds";
  return "perfquery";
}

bool is_info(const PartWriter& parts) { return parts.block.section.ends_with("info"); }

// Lid 37 port 1, Lid 37 Gid fe80::1 port 1, DR path slid 65535; dlid 65535; 0,1 port 1
void name_port(std::string_view id, PartWriter& parts) {
  id = id.substr(0, id.find(" (CapMask"));
  if (const std::size_t port = id.rfind(" port "); port != id.npos) {
    const std::string_view number = trimmed(id.substr(port + 6));
    if (is_decimal(number)) parts.name("port", port_name(number));
    id = id.substr(0, port);
  }
  if (take_off(id, "Lid ")) {
    parts.name("lid", assigned_lid(take_off_word(id)));
    id = trimmed(id);
    if (take_off(id, "Gid ")) parts.name("gid", trimmed(id));
  } else if (take_off(id, "DR path ")) {
    parts.name("dr_path", trimmed(id));
  }
}

bool read_title(std::string_view text, PartWriter& parts) {
  if (text.ends_with("PortInfo:") || text == kAfterSet) {
    parts.begin_block();
    parts.block.section = "ibportstate info";
    return true;
  }
  if (!take_off(text, "# ")) return false;
  const bool by_ibportstate = parts.block.section.starts_with("ibportstate");
  if (const std::size_t at = text.find(kCounters); at != text.npos) {
    const std::string_view title = trimmed(text.substr(0, at));
    parts.begin_block();
    parts.block.section = "counters";
    parts.open(tool_of(title), "port");
    name_port(text.substr(at + kCounters.size()), parts);
    return true;
  }
  if (const std::size_t at = text.find(kInfo); at != text.npos) {
    const bool port = text.substr(0, at) == "Port";
    parts.begin_block();
    parts.block.section = by_ibportstate ? "ibportstate info" : "info";
    parts.open(by_ibportstate ? "ibportstate" : "smpquery", port ? "port" : "node");
    name_port(text.substr(at + kInfo.size()), parts);
    return true;
  }
  return false;
}

bool is_identifier(std::string_view name) {
  return name.size() >= 3 && name.size() <= 64 && is_letter_character(name.front()) &&
         std::ranges::all_of(name, [](char c) {
           return is_letter_character(c) || is_digit_character(c) || c == '_' || c == ' ';
         });
}

struct Row {
  std::string_view name;
  std::string_view value;
};

std::optional<Row> read_row(std::string_view text, bool info) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view name = text.substr(0, colon);
  std::string_view value = text.substr(colon + 1);
  const std::size_t begin = value.find_first_not_of(". \t");
  if (begin == value.npos || !is_identifier(name)) return std::nullopt;
  const bool dotted = value.starts_with("..");
  value = trimmed(value.substr(begin));
  if (!info && (!is_number(value) || name.find(' ') != name.npos)) return std::nullopt;
  if (info && !dotted) return std::nullopt;
  return Row{name, value};
}

bool is_bookkeeping(std::string_view name) {
  return name == "CounterSelect" || name == "CounterSelect2";
}

void read_select(std::string_view port, PartWriter& parts) {
  const bool titled = parts.is_open() && parts.block.draft.report.values.empty();
  if (titled) return;
  parts.begin_block();
  parts.block.section = "counters";
  parts.open({}, "port");
  parts.name("port", port_name(port));
}

}  // namespace

bool begins_dotted(std::string_view text) {
  switch (text.front()) {
    case '#':
      return text.starts_with("# ") &&
             (text.find(kCounters) != text.npos || text.starts_with("# Port info: ") ||
              text.starts_with("# Node info: "));
    case 'P':
      return text.starts_with("PortSelect:..") || text == "Peer PortInfo:";
    case 'A':
      return text == kAfterSet;
    case 'C':
      return text == "CA PortInfo:" || text == "CA/RT PortInfo:";
    case 'I':
      return text.starts_with("Initial ") && text.ends_with(" PortInfo:");
    case 'S':
      return text == "Switch PortInfo:";
    default:
      return false;
  }
}

bool feed_dotted(std::string_view text, PartWriter& parts) {
  if (read_title(text, parts)) return true;
  const auto row = read_row(text, is_info(parts));
  if (!row) return false;
  if (!is_info(parts) && row->name == "PortSelect") {
    read_select(row->value, parts);
    return true;
  }
  if (!parts.is_open()) return false;
  if (is_bookkeeping(row->name)) return true;
  PartReport& report = parts.block.draft.report;
  if (report.tool.empty()) report.tool = tool_of_first_counter(row->name);
  if (row->name == "Guid" || row->name == "PortGuid")
    parts.name(row->name == "Guid" ? "node_guid" : "guid", canonical_guid(row->value));
  parts.value(row->name, row->value);
  return true;
}

}  // namespace faultline
