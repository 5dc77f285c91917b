// show_gids and ibdev2netdev: the addresses and the interface of each device.
#include "parsers/tool/tool_formats.h"
#include "parsers/tool/tool_words.h"

namespace faultline {
namespace {

bool is_gid(std::string_view word) {
  return word.find(':') != word.npos &&
         word.find_first_not_of("0123456789abcdefABCDEF:.") == word.npos;
}

bool is_version(std::string_view word) { return word == "v1" || word == "v2" || word == "IB"; }

// mlx5_2 1 3 0000:0000:0000:0000:0000:ffff:0a00:0001 10.0.0.1 v2 ens1f0np0
bool read_gid(std::string_view text, PartWriter& parts) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 4 || words.size() > 7 || !is_rdma_device(words[0]) || !is_decimal(words[1]) ||
      !is_decimal(words[2]) || !is_gid(words[3]))
    return false;
  std::string gid(words[3]);
  std::string_view netdev;
  for (std::size_t i = 4; i < words.size(); ++i) {
    const bool address = is_gid(words[i]) || words[i].find('.') != words[i].npos;
    if (!is_version(words[i]) && !address)
      netdev = words[i];
    else
      gid += ", " + std::string(words[i]);
  }
  const auto& names = parts.block.draft.report.names;
  const std::string name = "GID[" + std::string(words[2]) + "]";
  if (!parts.is_open() || value_of(names, "device") != words[0] ||
      value_of(names, "port") != words[1] || parts.has_value(name)) {
    parts.open("show_gids", "port");
    parts.name("device", words[0]);
    parts.name("port", words[1]);
  }
  parts.name("netdev", netdev);
  parts.value(name, gid);
  return true;
}

}  // namespace

bool begins_show_gids(std::string_view text) {
  if (!text.starts_with("DEV")) return false;
  const std::vector<std::string_view> words = words_of(text);
  return words.size() >= 4 && words[1] == "PORT" && words[2] == "INDEX" && words[3] == "GID";
}

bool feed_show_gids(std::string_view text, PartWriter& parts) {
  if (begins_show_gids(text)) {
    parts.begin_block();
    return true;
  }
  if (text.starts_with("--- ") || text.starts_with("---\t") || text.starts_with("n_gids_found="))
    return true;
  return read_gid(text, parts);
}

// mlx5_2 port 1 ==> ens1f0np0 (Up)
bool begins_ibdev2netdev(std::string_view text) {
  const std::string_view device = take_off_word(text);
  return text.starts_with(" port ") && is_rdma_device(device) && text.find(" ==> ") != text.npos;
}

bool feed_ibdev2netdev(std::string_view text, PartWriter& parts) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 6 || !is_rdma_device(words[0]) || words[1] != "port" ||
      !is_decimal(words[2]) || words[3] != "==>")
    return false;
  std::string_view state = words[5];
  if (!take_off(state, "(") || !state.ends_with(')')) return false;
  state.remove_suffix(1);
  PartReport report{.tool = "ibdev2netdev", .kind = "port"};
  set_name(report.names, "device", words[0]);
  set_name(report.names, "port", words[2]);
  set_name(report.names, "netdev", words[4]);
  set_value(report.values, "netdev state", state);
  parts.give(std::move(report));
  return true;
}

}  // namespace faultline
