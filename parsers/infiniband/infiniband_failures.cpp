// What the InfiniBand tools print on stderr if something does not answer.
#include <string>

#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

PartReport failed(std::string_view tool, std::string_view kind, std::string_view error) {
  return {.tool = std::string(tool),
          .kind = std::string(kind),
          .names = {},
          .values = {{"error", std::string(error)}}};
}

// Lid 41, DR path slid 0; dlid 0; 0,1,3
void name_target(std::string_view id, PartReport& report) {
  if (const std::size_t port = id.rfind(" port "); port != id.npos) {
    set_name(report.names, "port", port_name(trimmed(id.substr(port + 6))));
    id = id.substr(0, port);
  }
  if (take_off(id, "Lid "))
    set_name(report.names, "lid", assigned_lid(take_off_word(id)));
  else if (take_off(id, "DR path "))
    set_name(report.names, "dr_path", trimmed(id));
}

// mad_rpc: _do_madrpc failed; dport (Lid 41)
bool read_target(std::string_view text, std::string& last_error, PartWriter& parts) {
  const std::size_t at = text.find("failed; dport (");
  if (at == text.npos || !text.ends_with(')')) return false;
  text.remove_prefix(at + 15);
  text.remove_suffix(1);
  PartReport report = failed("perfquery", "port", last_error.empty() ? "failed" : last_error);
  name_target(text, report);
  last_error.clear();
  if (!report.names.empty()) parts.give(std::move(report));
  return true;
}

// IB_GSI_PORT_COUNTERS query failed on gpu-7 mlx5_1, Lid 38 port 1
bool read_failed_query(std::string_view text, PartWriter& parts) {
  constexpr std::string_view kFailed = " query failed on ";
  const std::size_t at = text.find(kFailed);
  const std::size_t place = text.rfind(", ");
  if (at == text.npos || at == 0 || place == text.npos || place < at) return false;
  const std::string_view query = text.substr(text.rfind(' ', at - 1) + 1);
  PartReport report = failed("ibqueryerrors", "port", query.substr(0, query.find(kFailed) + 13));
  add_node_names(report.names, text.substr(at + kFailed.size(), place - at - kFailed.size()));
  name_target(text.substr(place + 2), report);
  parts.give(std::move(report));
  return true;
}

// stat of IB device 'mlx5_8' failed: No such file or directory
bool read_missing_device(std::string_view text, PartWriter& parts) {
  const std::size_t at = text.find("IB device '");
  if (at == text.npos) return false;
  text.remove_prefix(at + 11);
  const std::size_t quote = text.find("' failed: ");
  if (quote == text.npos) return false;
  PartReport report = failed("ibstat", "port", text.substr(quote + 10));
  set_name(report.names, "device", text.substr(0, quote));
  parts.give(std::move(report));
  return true;
}

// perfquery: iberror: failed: Failed to open '(null)' port '0'
bool read_tool_failure(std::string_view text, PartWriter& parts) {
  const std::size_t at = text.find(": iberror: ");
  if (at == text.npos || at == 0 || text.substr(0, at).find(' ') != text.npos) return false;
  const std::string_view tool = text.substr(0, at);
  std::string_view error = text.substr(at + 11);
  take_off(error, "failed: ");
  // If a port did not answer, this line says so again, which gives no fact.
  if (error.starts_with("Failed to open")) parts.give(failed(tool, "host", error));
  return true;
}

}  // namespace

bool begins_mad_failure(std::string_view text) {
  switch (text.front()) {
    case 'i':
      if (text.starts_with("ibwarn: [") || text.starts_with("ibpanic: [")) return true;
      break;
    case 'p':
    case 's':
      break;
    default:
      return false;
  }
  return text.substr(0, 48).find(": iberror: ") != text.npos;
}

bool read_mad_failure(std::string_view text, std::string& last_error, PartWriter& parts) {
  if (!begins_mad_failure(text)) return false;
  if (read_tool_failure(text, parts)) return true;
  text.remove_prefix(
      std::min(text.find(']') == text.npos ? text.size() : text.find(']') + 1, text.size()));
  constexpr std::string_view kReceived = "_do_madrpc: recv failed: ";
  if (const std::size_t at = text.find(kReceived); at != text.npos) {
    last_error = trimmed(text.substr(at + kReceived.size())).substr(0, 256);
    return true;
  }
  if (read_target(text, last_error, parts) || read_failed_query(text, parts)) return true;
  read_missing_device(text, parts);
  return true;
}

}  // namespace faultline
