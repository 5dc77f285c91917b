// ibstat, ibstatus, ibv_devinfo: the adapters of one host and their ports.
#include <algorithm>
#include <array>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

// --- ibstat

// CA 'mlx5_0', CA: 'mlx5_0'
std::string_view adapter_of(std::string_view text) {
  if (!take_off(text, "CA") && !take_off(text, "Switch") && !take_off(text, "Router")) return {};
  take_off(text, ":");
  if (!take_off(text, " '") || !text.ends_with('\'')) return {};
  text.remove_suffix(1);
  return text;
}

// "Port 1:"
std::string_view port_of(std::string_view text) {
  if (!take_off(text, "Port ") || !text.ends_with(':')) return {};
  text.remove_suffix(1);
  return is_decimal(text) ? text : std::string_view();
}

bool read_adapter_row(const KeyAndValue& row, PartWriter& parts) {
  if (row.key == "Node GUID") {
    set_name(parts.block.names, "node_guid", canonical_guid(row.value));
    return true;
  }
  if (!is_one_of(row.key, {"CA type", "Number of ports", "Firmware version", "Hardware version",
                           "System image GUID"}))
    return false;
  set_value(parts.block.values, row.key, row.value);
  return true;
}

bool read_port_row(const KeyAndValue& row, PartWriter& parts) {
  if (!is_one_of(row.key,
                 {"State", "Physical state", "Rate", "Base lid", "LMC", "SM lid", "Capability mask",
                  "Port GUID", "Link layer", "Effective speed", "Active width", "Active speed"}))
    return false;
  if (row.key == "Port GUID") {
    parts.name("guid", canonical_guid(row.value));
    return true;
  }
  if (row.key == "Base lid") parts.name("lid", assigned_lid(row.value));
  parts.value(row.key, row.value);
  return true;
}

// --- ibv_devinfo

bool read_device_row(const KeyAndValue& row, PartWriter& parts) {
  if (row.key == "node_guid")
    set_name(parts.block.names, "node_guid", canonical_guid(row.value));
  else if (is_one_of(row.key, {"transport", "fw_ver", "sys_image_guid", "vendor_id",
                               "vendor_part_id", "hw_ver", "board_id", "phys_port_cnt"}))
    set_value(parts.block.values, row.key, row.value);
  return true;  // -v also prints hundreds of limits of the device
}

// "GID[  3]" and its value, which has colons too.
bool read_gid_row(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "GID[")) return false;
  const std::size_t end = text.find("]:");
  if (end == text.npos) return false;
  const std::string_view index = trimmed(text.substr(0, end));
  if (is_decimal(index))
    parts.value("GID[" + std::string(index) + "]", trimmed(text.substr(end + 2)));
  return true;
}

// Keys have small letters and digits. With -v some have flags below them, in capitals.
bool is_key(std::string_view key) {
  return std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit_character(c) || c == '_' || c == ' ';
  });
}

bool is_flag(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || is_digit_character(c) || c == '_' || c == ' ';
  });
}

PartReport failed_host(std::string_view tool, std::string_view error) {
  return {.tool = std::string(tool),
          .kind = "host",
          .names = {},
          .values = {{"error", std::string(error)}}};
}

}  // namespace

bool begins_ibstat(std::string_view text) {
  return (text.front() == 'C' && text.starts_with("CA") && !adapter_of(text).empty()) ||
         (text.front() == 'P' && !port_of(text).empty());
}

bool feed_ibstat(std::string_view text, PartWriter& parts) {
  if (const std::string_view adapter = adapter_of(text); !adapter.empty()) {
    parts.begin_block();
    set_name(parts.block.names, "device", adapter);
    return true;
  }
  if (const std::string_view port = port_of(text); !port.empty()) {
    // The same port again belongs to another adapter, whose head was lost.
    if (parts.block.section == port) parts.begin_block();
    if (parts.block.section.empty()) parts.block.section = port;
    parts.open("ibstat", "port");
    parts.name("port", port);
    return true;
  }
  const auto row = key_and_value(text);
  return row && (parts.is_open() ? read_port_row(*row, parts) : read_adapter_row(*row, parts));
}

bool begins_ibstatus(std::string_view text) {
  return (text.front() == 'I' && text.starts_with("Infiniband device '")) ||
         (text.front() == 'F' && text.starts_with("Fatal error:") && text.ends_with("No devices"));
}

bool feed_ibstatus(std::string_view text, PartWriter& parts) {
  if (text.starts_with("Fatal error:")) {
    parts.give(failed_host("ibstatus", "No devices"));
    return true;
  }
  if (take_off(text, "Infiniband device '")) {
    const std::size_t quote = text.find("' port ");
    if (quote == text.npos) return false;
    std::string_view rest = text.substr(quote + 7);
    parts.begin_block();
    parts.open("ibstatus", "port");
    parts.name("device", text.substr(0, quote));
    parts.name("port", take_off_word(rest));
    return true;
  }
  const auto row = key_and_value(text);
  if (!parts.is_open() || !row ||
      !is_one_of(row->key, {"default gid", "base lid", "sm lid", "state", "phys state", "rate",
                            "link_layer"}))
    return false;
  if (row->key == "default gid") {
    parts.name("gid", row->value);
    return true;
  }
  if (row->key == "base lid") parts.name("lid", assigned_lid(row->value));
  parts.value(row->key, row->value);
  return true;
}

bool begins_ibv_devinfo(std::string_view text) {
  switch (text.front()) {
    case 'h':
      return text.starts_with("hca_id:");
    case 'N':
      return text == "No IB devices found";
    case 'F':
      return text.starts_with("Failed to get IB devices list");
    default:
      return false;
  }
}

bool feed_ibv_devinfo(std::string_view text, PartWriter& parts) {
  if (text == "No IB devices found" || text.starts_with("Failed to get IB devices list")) {
    parts.give(failed_host("ibv_devinfo", text));
    return true;
  }
  if (read_gid_row(text, parts)) return true;
  const auto row = key_and_value(text);
  if (!row) return is_flag(text);
  if (row->key == "hca_id") {
    parts.begin_block();
    set_name(parts.block.names, "device", row->value);
    return true;
  }
  if (row->key == "port" && is_decimal(row->value)) {
    parts.open("ibv_devinfo", "port");
    parts.name("port", row->value);
    return true;
  }
  if (!is_key(row->key)) return row->key == "Unknown flags";
  if (!parts.is_open()) return read_device_row(*row, parts);
  if (row->key == "port_lid") parts.name("lid", assigned_lid(row->value));
  parts.value(row->key, row->value);
  return true;
}

}  // namespace faultline
