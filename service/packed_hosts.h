// What a job says about its hosts, packed into a few kilobytes while the job rests, because very
// many jobs may rest. It is never stored.
#pragma once

#include <string>
#include <string_view>

#include "model/host_views.h"

namespace faultline {

std::string packed(const HostViews& hosts);

HostViews unpacked_hosts(std::string_view bytes);

}  // namespace faultline
