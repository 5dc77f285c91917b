// Lines of slurmctld, Slurm's controller, of nodes that it lost and of jobs that it ended.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_slurmctld(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
