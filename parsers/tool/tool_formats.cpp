#include "parsers/tool/tool_formats.h"

#include <array>
#include <bit>
#include <cstdint>

namespace faultline {
namespace {

constexpr std::string_view kDevices = "mrbieqh";  // as tool_words knows them

// In the order in which they are tried. Add a new one at the end: the saved state of a source
// refers to formats by their index.
constexpr ToolFormat kFormats[] = {
    {"perfquery", "#PCSIA", begins_dotted, feed_dotted},
    {"ibqueryerrors", "EDG#", begins_ibqueryerrors, feed_ibqueryerrors},
    {"ibstat", "CP", begins_ibstat, feed_ibstat},
    {"ibstatus", "IF", begins_ibstatus, feed_ibstatus},
    {"ibv_devinfo", "hNF", begins_ibv_devinfo, feed_ibv_devinfo},
    {"iblinkinfo", "SC0123456789", begins_iblinkinfo, feed_iblinkinfo},
    {"ibnodes", "CSs", begins_ibnodes, feed_ibnodes},
    {"ibnetdiscover", "vSC", begins_ibnetdiscover, feed_ibnetdiscover},
    {"rdma", "lF0123456789", begins_rdma, feed_rdma},
    {"sysfs", "/=gctmrbieqh", begins_sysfs, feed_sysfs},
    {"ethtool", "NSInC", begins_ethtool, feed_ethtool},
    {"mlxlink", "OP-", begins_mlxlink, feed_mlxlink},
    {"show_gids", "D", begins_show_gids, feed_show_gids},
    {"ibdev2netdev", kDevices, begins_ibdev2netdev, feed_ibdev2netdev},
    {"ibping", "P-", begins_ibping, feed_ibping},
    {"perftest", "RSACUDFE#", begins_perftest, feed_perftest},
    {"sysfs", "Vvabcdefhilmnopqrstu", begins_sysfs_loop, feed_sysfs_loop, true},
    {"ibdiagnet", "-\\", begins_ibdiagnet, feed_ibdiagnet},
    {"pfcwd", "QE", begins_pfcwd, feed_pfcwd},
    {"portstat", "I", begins_portstat, feed_portstat},
    {"intfstat", "NE", begins_intfstat, feed_intfstat},
};

// For each character: the formats that may begin with a line that begins with it.
using FormatSet = std::uint32_t;
static_assert(std::size(kFormats) <= 32);

constexpr std::array<FormatSet, 256> kByFirst = [] {
  std::array<FormatSet, 256> sets{};
  for (std::size_t i = 0; i < std::size(kFormats); ++i)
    for (const char first : kFormats[i].firsts)
      sets[static_cast<unsigned char>(first)] |= FormatSet{1} << i;
  return sets;
}();

}  // namespace

std::span<const ToolFormat> all_tool_formats() { return kFormats; }

const ToolFormat* tool_format_beginning_with(std::string_view text, bool weak) {
  if (text.empty()) return nullptr;
  for (FormatSet set = kByFirst[static_cast<unsigned char>(text.front())]; set != 0;
       set &= set - 1) {
    const ToolFormat& format = kFormats[std::countr_zero(set)];
    if (format.weak == weak && format.begins(text)) return &format;
  }
  return nullptr;
}

}  // namespace faultline
