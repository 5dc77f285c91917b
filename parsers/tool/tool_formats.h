// The formats of tools, two functions each: see tool_block.h.
#pragma once

#include <string_view>

#include "parsers/tool/tool_block.h"

namespace faultline {

// perfquery, smpquery, ibportstate: names, dots, values.
bool begins_dotted(std::string_view text);
bool feed_dotted(std::string_view text, PartWriter& parts);

bool begins_ibqueryerrors(std::string_view text);
bool feed_ibqueryerrors(std::string_view text, PartWriter& parts);

bool begins_ibstat(std::string_view text);
bool feed_ibstat(std::string_view text, PartWriter& parts);

bool begins_ibstatus(std::string_view text);
bool feed_ibstatus(std::string_view text, PartWriter& parts);

bool begins_ibv_devinfo(std::string_view text);
bool feed_ibv_devinfo(std::string_view text, PartWriter& parts);

bool begins_iblinkinfo(std::string_view text);
bool feed_iblinkinfo(std::string_view text, PartWriter& parts);

bool begins_ibnetdiscover(std::string_view text);
bool feed_ibnetdiscover(std::string_view text, PartWriter& parts);

// ibhosts, ibswitches, sminfo
bool begins_ibnodes(std::string_view text);
bool feed_ibnodes(std::string_view text, PartWriter& parts);

bool begins_rdma(std::string_view text);
bool feed_rdma(std::string_view text, PartWriter& parts);

// Files under /sys, with their paths.
bool begins_sysfs(std::string_view text);
bool feed_sysfs(std::string_view text, PartWriter& parts);

// Counters of /sys that a loop printed without their paths.
bool begins_sysfs_loop(std::string_view text);
bool feed_sysfs_loop(std::string_view text, PartWriter& parts);

bool begins_ethtool(std::string_view text);
bool feed_ethtool(std::string_view text, PartWriter& parts);

bool begins_mlxlink(std::string_view text);
bool feed_mlxlink(std::string_view text, PartWriter& parts);

bool begins_show_gids(std::string_view text);
bool feed_show_gids(std::string_view text, PartWriter& parts);

bool begins_ibdev2netdev(std::string_view text);
bool feed_ibdev2netdev(std::string_view text, PartWriter& parts);

bool begins_ibping(std::string_view text);
bool feed_ibping(std::string_view text, PartWriter& parts);

bool begins_ibdiagnet(std::string_view text);
bool feed_ibdiagnet(std::string_view text, PartWriter& parts);

bool begins_perftest(std::string_view text);
bool feed_perftest(std::string_view text, PartWriter& parts);

// SONiC switches: "show pfcwd stats", "show interfaces counters", "show interface status"
bool begins_intfstat(std::string_view text);
bool feed_intfstat(std::string_view text, PartWriter& parts);
bool begins_pfcwd(std::string_view text);
bool feed_pfcwd(std::string_view text, PartWriter& parts);

bool begins_portstat(std::string_view text);
bool feed_portstat(std::string_view text, PartWriter& parts);

// What libibmad and the tools print on stderr, between any other lines.
bool begins_mad_failure(std::string_view text);
bool read_mad_failure(std::string_view text, std::string& last_error, PartWriter& parts);

}  // namespace faultline
