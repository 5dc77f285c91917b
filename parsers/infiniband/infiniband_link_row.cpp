#include "parsers/infiniband/infiniband_link_row.h"

#include <string>

#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

// Takes the last word off.
std::string_view take_off_last_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view word = blank == text.npos ? text : text.substr(blank + 1);
  text = trimmed(text.substr(0, text.size() - word.size()));
  return word;
}

// "1   2[  ]": the number in brackets is the one printed on the switch's case.
bool take_off_port(std::string_view& text, std::string_view& port) {
  text = trimmed(text);
  if (!text.ends_with(']')) return false;
  const std::size_t bracket = text.rfind('[');
  if (bracket == text.npos) return false;
  text = trimmed(text.substr(0, bracket));
  if (text.empty()) return true;
  port = take_off_last_word(text);
  return is_decimal(port);
}

// "4X        106.25 Gbps Active/  LinkUp"
bool read_state(std::string_view text, LinkRow& row) {
  const std::size_t slash = text.rfind('/');
  if (slash == text.npos) return false;
  const std::string_view physical = trimmed(text.substr(slash + 1));
  std::string_view rest = text.substr(0, slash);
  const std::string_view state = take_off_last_word(rest);
  if (state.empty() || physical.empty() || physical.find(' ') != physical.npos) return false;
  set_value(row.values, "state", state);
  set_value(row.values, "phys_state", physical);
  if (rest.empty()) return true;
  std::string_view speed = rest;
  const std::string_view width = take_off_word(speed);
  if (!width.ends_with('X')) return false;
  set_value(row.values, "width", width);
  if (speed = trimmed(speed); !speed.empty()) set_value(row.values, "speed", speed);
  return true;
}

// "( Could be 106.25 Gbps)", "(Could be 4X Could be 106.25 Gbps)", "( )"
void read_message(std::string_view text, LinkRow& row) {
  text = trimmed(text);
  if (!take_off(text, "(") || !text.ends_with(')')) return;
  text.remove_suffix(1);
  constexpr std::string_view kCouldBe = "Could be ";
  std::string could_be;
  for (std::size_t at = text.find(kCouldBe); at != text.npos;) {
    text.remove_prefix(at + kCouldBe.size());
    at = text.find(kCouldBe);
    if (!could_be.empty()) could_be += ", ";
    could_be += trimmed(text.substr(0, at));
  }
  if (!could_be.empty()) set_value(row.values, "could_be", could_be);
}

bool read_peer(std::string_view text, LinkRow& row) {
  const std::size_t first = text.find('"');
  const std::size_t last = text.rfind('"');
  if (first == last) return false;
  const std::string_view node = trimmed(text.substr(first + 1, last - first - 1));
  std::string_view place = trimmed(text.substr(0, first));
  std::string_view port;
  if (!take_off_port(place, port)) return false;
  if (!port.empty()) {
    set_name(row.names, "peer_port", port);
    const std::string_view lid = take_off_last_word(place);
    set_name(row.names, "peer_lid", assigned_lid(lid));
    set_name(row.names, "peer_guid", canonical_guid(trimmed(place)));
  }
  if (node == "Port not available")
    set_value(row.values, "peer", node);
  else
    add_node_names(row.names, node, "peer_");
  read_message(text.substr(last + 1), row);
  return true;
}

}  // namespace

std::optional<LinkRow> read_link_row(std::string_view text) {
  constexpr std::string_view kOpen = "==(";
  constexpr std::string_view kArrow = "==>";
  const std::size_t open = text.find(kOpen);
  if (open == text.npos) return std::nullopt;
  const std::size_t arrow = text.find(kArrow, open);
  if (arrow == text.npos) return std::nullopt;
  LinkRow row;
  std::string_view state = text.substr(open + kOpen.size(), arrow - open - kOpen.size());
  state = trimmed(state.substr(0, state.find(" (HOQ:")));
  if (!state.ends_with(')')) return std::nullopt;
  state.remove_suffix(1);
  std::string_view near = text.substr(0, open);
  std::string_view port;
  if (!take_off_port(near, port) || port.empty()) return std::nullopt;
  set_name(row.names, "lid", assigned_lid(take_off_last_word(near)));
  set_name(row.names, "port", port);
  row.before = near;
  if (!read_state(state, row) || !read_peer(text.substr(arrow + kArrow.size()), row))
    return std::nullopt;
  return row;
}

}  // namespace faultline
