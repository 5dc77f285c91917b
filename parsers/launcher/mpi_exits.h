// Lines in which launchers and runtimes (MPI, partitioned memory) and batch systems name the
// process that ended and what ended it.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

bool parse_mpi_exit(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
