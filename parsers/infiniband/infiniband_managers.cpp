#include "parsers/infiniband/infiniband_managers.h"

#include <string>

#include "parsers/pattern.h"
#include "parsers/tool/tool_text.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

using tool_text::trimmed;

constexpr std::string_view kEvent = "event";

// "Computer:gpu-node-3 mlx5_4:1)b8cef60300aa1234:1", "Switch:leaf-4:12)1070fd0300123456:12": one
// end of a link, after its opening bracket.
bool name_end(std::string_view text, const std::string& prefix, PartReport& report) {
  static const Pattern kEnd(
      R"(^(?:Switch|Computer|Gateway|Router):\s*([^:()]+?)(?::(\d+))?\)\s*(?:(?:0x)?([0-9a-fA-F]{8,16}))?(?::(\d+))?)");
  std::string_view node;
  std::string_view place;
  std::string_view guid;
  std::string_view port;
  if (!kEnd.find(text, &node, &place, &guid, &port)) return false;
  set_name(report.names, prefix + "port", port.empty() ? place : port);
  set_name(report.names, prefix + "guid", canonical_guid(guid));
  add_node_names(report.names, node, prefix);
  return true;
}

// The two ends of a link, and what happened to it.
bool read_link(std::string_view said, PartReport& report) {
  static const Pattern kLink(R"(^(Link went (?:up|down)): \((.+?) - \((.+)$)");
  std::string_view what;
  std::string_view one;
  std::string_view other;
  if (!kLink.find(said, &what, &one, &other)) return false;
  report.kind = "link";
  set_value(report.values, kEvent, what);
  return name_end(one, "", report) && name_end(other, "peer_", report);
}

// "default / Switch: leaf-4 / 12", "default(10) / Computer: gpu-3 mlx5_0 / 1": the port or node
// that an event is about.
bool read_object(std::string_view object, std::string_view code, std::string_view said,
                 PartReport& report) {
  static const Pattern kObject(
      R"(^[^/]+/ (?:(?:Switch|Computer|Gateway|Router): )?([^/]+?)(?: / (?:NA / )?(\d+))?$)");
  std::string_view node;
  std::string_view port;
  if (!kObject.find(object, &node, &port)) return false;
  report.kind = "port";
  set_name(report.names, "port", port);
  add_node_names(report.names, node, "");
  set_value(report.values, kEvent, said);
  set_value(report.values, "code", code);
  return true;
}

}  // namespace

bool parse_ufm(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kFrame(
      R"((?:^|\s)\[\d+\] \[(\d+)\] (?:INFO|MINOR|WARNING|CRITICAL) \[[^\]]+\] (?:\w+ )?\[([^\]]+)\](?: \[dev_id: [^\]]+\])?: (.+)$)");
  std::string_view code;
  std::string_view object;
  std::string_view said;
  if (!kFrame.find(trimmed(text), &code, &object, &said)) return false;
  PartReport link{.tool = "ufm", .kind = {}, .names = {}, .values = {}};
  PartReport port = link;
  if (read_link(said, link))
    readings.push_back({.fact = std::move(link)});
  else if (read_object(object, code, said, port))
    readings.push_back({.fact = std::move(port)});
  return true;
}

bool parse_opensm(std::string_view text, std::vector<Reading>& readings) {
  static const Pattern kPort(
      R"((Removed|Discovered new) port with GUID: ?(0x[0-9a-fA-F]+) LID range \[[\d, ]+\] of node: ?(.+)$)");
  std::string_view what;
  std::string_view guid;
  std::string_view node;
  if (!kPort.find(trimmed(text), &what, &guid, &node)) return false;
  PartReport report{.tool = "opensm", .kind = "port", .names = {}, .values = {}};
  set_name(report.names, "guid", canonical_guid(guid));
  add_node_names(report.names, node, "");
  set_value(report.values, kEvent, std::string(what) + " port");
  readings.push_back({.fact = std::move(report)});
  return true;
}

}  // namespace faultline
