// What a job tells of hosts, for as long as the job rests: in a few kilobytes that lie together,
// for there may be very many such jobs. Is never stored.
#pragma once

#include <string>
#include <string_view>

#include "model/host_views.h"

namespace faultline {

std::string packed(const HostViews& hosts);

HostViews unpacked_hosts(std::string_view bytes);

}  // namespace faultline
