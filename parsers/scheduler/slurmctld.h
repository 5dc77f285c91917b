// Lines of slurmctld, Slurm's controller, about nodes that it lost and jobs that it ended.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_slurmctld(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
