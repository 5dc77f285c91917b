#include "parsers/tool_formats.h"

namespace faultline {
namespace {

// In the order they are tried.
constexpr ToolFormat kFormats[] = {
    {"perfquery", begins_dotted, feed_dotted},
    {"ibqueryerrors", begins_ibqueryerrors, feed_ibqueryerrors},
    {"ibstat", begins_ibstat, feed_ibstat},
    {"ibstatus", begins_ibstatus, feed_ibstatus},
    {"ibv_devinfo", begins_ibv_devinfo, feed_ibv_devinfo},
    {"iblinkinfo", begins_iblinkinfo, feed_iblinkinfo},
    {"ibnodes", begins_ibnodes, feed_ibnodes},
    {"ibnetdiscover", begins_ibnetdiscover, feed_ibnetdiscover},
    {"rdma", begins_rdma, feed_rdma},
    {"sysfs", begins_sysfs, feed_sysfs},
    {"ethtool", begins_ethtool, feed_ethtool},
    {"mlxlink", begins_mlxlink, feed_mlxlink},
    {"show_gids", begins_show_gids, feed_show_gids},
    {"ibdev2netdev", begins_ibdev2netdev, feed_ibdev2netdev},
    {"ibping", begins_ibping, feed_ibping},
    {"perftest", begins_perftest, feed_perftest},
    {"sysfs", begins_sysfs_loop, feed_sysfs_loop, true},
};

}  // namespace

std::span<const ToolFormat> all_tool_formats() { return kFormats; }

}  // namespace faultline
