// Files of /sys/class/infiniband and /sys/class/net, printed by grep, tail, cat and loops.
#include "parsers/infiniband/infiniband_sysfs.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

constexpr std::string_view kTool = "sysfs";

// Counters that loops print with the name alone, without a path. Sorted.
constexpr std::array kCounters = {
    std::string_view("VL15_dropped"),
    std::string_view("duplicate_request"),
    std::string_view("excessive_buffer_overrun_errors"),
    std::string_view("implied_nak_seq_err"),
    std::string_view("link_downed"),
    std::string_view("link_error_recovery"),
    std::string_view("local_ack_timeout_err"),
    std::string_view("local_link_integrity_errors"),
    std::string_view("max_retry_exceeded"),
    std::string_view("multicast_rcv_packets"),
    std::string_view("multicast_xmit_packets"),
    std::string_view("np_cnp_sent"),
    std::string_view("np_ecn_marked_roce_packets"),
    std::string_view("oos_drop_count"),
    std::string_view("out_of_buffer"),
    std::string_view("out_of_sequence"),
    std::string_view("packet_seq_err"),
    std::string_view("port_rcv_constraint_errors"),
    std::string_view("port_rcv_data"),
    std::string_view("port_rcv_errors"),
    std::string_view("port_rcv_packets"),
    std::string_view("port_rcv_remote_physical_errors"),
    std::string_view("port_rcv_switch_relay_errors"),
    std::string_view("port_xmit_constraint_errors"),
    std::string_view("port_xmit_data"),
    std::string_view("port_xmit_discards"),
    std::string_view("port_xmit_packets"),
    std::string_view("port_xmit_wait"),
    std::string_view("req_cqe_error"),
    std::string_view("req_cqe_flush_error"),
    std::string_view("req_remote_access_errors"),
    std::string_view("req_remote_invalid_request"),
    std::string_view("req_rnr_retries_exceeded"),
    std::string_view("req_transport_retries_exceeded"),
    std::string_view("resp_cqe_error"),
    std::string_view("resp_cqe_flush_error"),
    std::string_view("resp_local_length_error"),
    std::string_view("resp_remote_access_errors"),
    std::string_view("retrans_timeout_events"),
    std::string_view("rnr_nak_retry_err"),
    std::string_view("rnr_naks_rcvd"),
    std::string_view("roce_adp_retrans"),
    std::string_view("roce_adp_retrans_to"),
    std::string_view("roce_slow_restart"),
    std::string_view("roce_slow_restart_cnps"),
    std::string_view("roce_slow_restart_trans"),
    std::string_view("rp_cnp_handled"),
    std::string_view("rp_cnp_ignored"),
    std::string_view("rx_atomic_requests"),
    std::string_view("rx_dct_connect"),
    std::string_view("rx_icrc_encapsulated"),
    std::string_view("rx_read_requests"),
    std::string_view("rx_write_requests"),
    std::string_view("seq_err_naks_rcvd"),
    std::string_view("symbol_error"),
    std::string_view("to_retransmits"),
    std::string_view("unicast_rcv_packets"),
    std::string_view("unicast_xmit_packets"),
    std::string_view("unresponsive_remote_events"),
    std::string_view("vl15_dropped"),
};
static_assert(std::ranges::is_sorted(kCounters));

bool is_counter(std::string_view word) { return std::ranges::binary_search(kCounters, word); }

void put(const SysfsPath& path, std::string_view value, PartWriter& parts) {
  if (sysfs_says_nothing(path, value)) return;
  if (!parts.is_open() || !is_of_sysfs_part(parts.block.draft.report, path) ||
      parts.has_value(path.file)) {
    parts.open(kTool, path.netdev.empty() ? "port" : "netdev");
  }
  add_sysfs_value(parts.block.draft.report, path, value);
}

// Adds a counter of the port that the context names.
void put_in_context(std::string_view counter, std::string_view value, PartWriter& parts) {
  put({.pci = {},
       .device = parts.context.device,
       .port = parts.context.port,
       .netdev = {},
       .file = counter,
       .whole = {}},
      value, parts);
}

// "/sys/…/symbol_error:0", "/sys/…/symbol_error 0". After a path alone, the next line is the value.
bool read_path(std::string_view text, PartWriter& parts) {
  const auto path = take_off_sysfs_path(text);
  if (!path) return false;
  const bool alone = trimmed(text).empty();
  if (!text.empty()) text.remove_prefix(1);
  const std::string_view value = trimmed(text);
  if (alone || value.empty())
    parts.block.section = path->whole;
  else
    put(*path, value, parts);
  return true;
}

// ==> /sys/class/infiniband/mlx5_0/ports/1/hw_counters/lifespan <==
bool read_heading(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "==> ") || !text.ends_with(" <==")) return false;
  text.remove_suffix(4);
  std::string_view rest = text;
  if (!take_off_sysfs_path(rest) || !rest.empty()) return false;
  parts.block.section = text;
  return true;
}

// "=== ./port_xmit_wait ===", "==> port_xmit_wait <==": a file in the folder of the prompt.
std::string_view counter_in_heading(std::string_view text) {
  const bool is_heading = (take_off(text, "==> ") && text.ends_with(" <==")) ||
                          (take_off(text, "=== ") && text.ends_with(" ==="));
  if (!is_heading) return {};
  text.remove_suffix(4);
  take_off(text, "./");
  return is_counter(text) ? text : std::string_view();
}

bool read_relative_heading(std::string_view text, PartWriter& parts) {
  const std::string_view counter = counter_in_heading(text);
  if (counter.empty() || parts.context.device.empty()) return false;
  parts.block.section = counter;
  return true;
}

// grep: /sys/class/infiniband/mlx5_9/ports/1/counters/symbol_error: Invalid argument
bool read_complaint(std::string_view text, PartWriter& parts) {
  if (!take_off(text, "grep: ") && !take_off(text, "cat: ") && !take_off(text, "tail: "))
    return false;
  const auto path = take_off_sysfs_path(text);
  if (!path || !take_off(text, ": ")) return false;
  if (text != "Is a directory") put(*path, text, parts);
  return true;
}

}  // namespace

bool is_of_sysfs_part(const PartReport& report, const SysfsPath& path) {
  const auto same = [&](std::string_view name, std::string_view value) {
    return value_of(report.names, name) == value;
  };
  const std::string_view port = value_of(report.names, "port");
  return same("device", path.device) && same("netdev", path.netdev) &&
         (port.empty() || path.port.empty() || port == path.port);
}

bool sysfs_says_nothing(const SysfsPath& path, std::string_view value) {
  if (value.empty()) return true;
  if (path.file.starts_with("gids/"))
    return value.find_first_not_of("0:") == value.npos ||
           value.starts_with("fe80:0000:0000:0000:0000:0000:");
  if (path.file.starts_with("pkeys/")) return value == "0x0000";
  return false;
}

void add_sysfs_value(PartReport& report, const SysfsPath& path, std::string_view value) {
  set_name(report.names, "pci", path.pci);
  set_name(report.names, "device", path.device);
  set_name(report.names, "port", path.port);
  set_name(report.names, "netdev", path.netdev);
  const bool rdma = !path.device.empty();
  if (rdma && path.file == "node_guid")
    set_name(report.names, "node_guid", canonical_guid(value));
  else if (rdma && path.file == "node_desc")
    add_node_names(report.names, value);
  else
    set_value(report.values, path.file, value);
  if (rdma && path.file == "lid") set_name(report.names, "lid", assigned_lid(value));
}

bool begins_sysfs(std::string_view text) {
  if (!counter_in_heading(text).empty()) return true;
  if (!take_off(text, "==> ") && !take_off(text, "grep: ") && !take_off(text, "cat: "))
    take_off(text, "tail: ");
  return take_off_sysfs_path(text).has_value();
}

bool feed_sysfs(std::string_view text, PartWriter& parts) {
  if (read_heading(text, parts) || read_relative_heading(text, parts) ||
      read_complaint(text, parts))
    return true;
  // Try a path first: a line that is one of our paths is not the value of the path before it.
  if (read_path(text, parts)) return true;
  const std::string pending = std::move(parts.block.section);
  parts.block.section.clear();
  std::string_view rest = pending;
  constexpr std::size_t kMostOfAValue = 128;
  if (text.size() > kMostOfAValue) return false;
  const auto path = take_off_sysfs_path(rest);
  if (path) {
    put(*path, text, parts);
    return true;
  }
  if (!is_counter(pending) || !is_number(text)) return false;
  put_in_context(pending, text, parts);
  return true;
}

namespace {

struct LoopRow {
  std::string_view device;
  std::string_view port;
  std::string_view counter;
  std::string_view value;
};

// "mlx5_0 1 symbol_error 0", "symbol_error: 0", "symbol_error=0"
std::optional<LoopRow> read_loop_row(std::string_view text) {
  LoopRow row;
  std::string_view rest = text;
  if (const std::string_view word = take_off_word(rest); is_rdma_device(word)) {
    row.device = word;
    row.port = take_off_word(rest);
    if (!is_decimal(row.port)) return std::nullopt;
    text = trimmed(rest);
  }
  const auto end = std::ranges::find_if_not(
      text, [](char c) { return is_letter_character(c) || is_digit_character(c) || c == '_'; });
  row.counter = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  if (!is_counter(row.counter)) return std::nullopt;
  text.remove_prefix(row.counter.size());
  text.remove_prefix(std::min(text.find_first_not_of(":= \t"), text.size()));
  row.value = trimmed(text);
  if (!is_number(row.value) && !row.value.starts_with("N/A")) return std::nullopt;
  return row;
}

}  // namespace

bool begins_sysfs_loop(std::string_view text) {
  // Called for every line that begins with a small letter; most of them do not end like a value.
  if (text.empty()) return false;
  const bool may_be_number = std::isxdigit(static_cast<unsigned char>(text.back())) != 0;
  if (!may_be_number && text.find("N/A") == std::string_view::npos) return false;
  return read_loop_row(text).has_value();
}

bool feed_sysfs_loop(std::string_view text, PartWriter& parts) {
  const auto row = read_loop_row(text);
  if (!row) return false;
  if (row->device.empty())
    put_in_context(row->counter, row->value, parts);
  else
    put({.pci = {},
         .device = row->device,
         .port = row->port,
         .netdev = {},
         .file = row->counter,
         .whole = {}},
        row->value, parts);
  return true;
}

}  // namespace faultline
