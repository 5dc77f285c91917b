// `rdma link` and `rdma statistic` of iproute2, as text.
#include "parsers/infiniband/rdma_json.h"
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

struct Link {
  std::string_view device;
  std::string_view port;
};

// "mlx5_0/1"
std::optional<Link> link_of(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos || slash == 0 || !is_decimal(word.substr(slash + 1))) return std::nullopt;
  return Link{word.substr(0, slash), word.substr(slash + 1)};
}

// "link mlx5_0/1 …"; before iproute2 4.20 "1/1: mlx5_0/1: …"
std::optional<Link> take_off_link(std::string_view& text) {
  std::string_view rest = text;
  std::string_view word = take_off_word(rest);
  if (word.ends_with(':')) {
    word.remove_suffix(1);
    const auto index = link_of(word);
    if (!index || !is_decimal(index->device)) return std::nullopt;
    word = take_off_word(rest);
    if (word.ends_with(':')) word.remove_suffix(1);
  } else if (word == "link") {
    word = take_off_word(rest);
  } else {
    return std::nullopt;
  }
  const auto link = link_of(word);
  if (link) text = rest;
  return link;
}

bool is_of_queue(std::string_view word) {
  return word == "cntn" || word == "lqpn" || word == "qp-type" || word == "type";
}

// Reads pairs of a name and a value. False: the text is something else.
bool read_pairs(std::string_view text, PartWriter& parts) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() % 2 != 0) return false;
  const bool is_link = parts.block.draft.report.tool == kRdmaLink;
  for (std::size_t i = 0; i < words.size(); i += 2)
    if (!is_link && !is_number(words[i + 1])) return false;
  for (std::size_t i = 0; i < words.size(); i += 2)
    add_rdma_value(parts.block.draft.report, words[i], words[i + 1]);
  return true;
}

}  // namespace

void add_rdma_value(PartReport& report, std::string_view name, std::string_view value) {
  if (name == "lid")
    set_name(report.names, "lid", assigned_lid(value));
  else if (name == "netdev")
    set_name(report.names, "netdev", value);
  else if (name != "netdev_index")
    set_value(report.values, name, value);
}

bool begins_rdma(std::string_view text) {
  switch (text.front()) {
    case 'l':
      return text.starts_with("link ") && take_off_link(text).has_value();
    case 'F':
      return text.starts_with("Failed to open NETLINK_RDMA socket");
    default:
      return is_digit_character(text.front()) && take_off_link(text).has_value();
  }
}

bool feed_rdma(std::string_view text, PartWriter& parts) {
  if (text.starts_with("Failed to open NETLINK_RDMA socket")) {
    parts.give({.tool = std::string(kRdmaLink),
                .kind = "host",
                .names = {},
                .values = {{"error", std::string(text)}}});
    return true;
  }
  if (const auto link = take_off_link(text)) {
    parts.begin_block();
    std::string_view rest = text;
    const std::string_view first = take_off_word(rest);
    // Ignore counters of a single queue pair.
    if (is_of_queue(first)) return true;
    const bool has_state = text.find(" state ") != text.npos || first == "state";
    parts.open(has_state ? kRdmaLink : kRdmaStatistic, "port");
    parts.name("device", link->device);
    parts.name("port", link->port);
    return read_pairs(text, parts) || words_of(text).size() > 1;
  }
  take_off(text, "Optional-set:");
  if (text.starts_with("LQPN:")) return true;
  return parts.is_open() && read_pairs(text, parts);
}

}  // namespace faultline
