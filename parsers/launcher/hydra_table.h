// The lines in which MPICH's and Intel's mpirun name a process that ended, and how:
//   =   RANK 3 PID 4774 RUNNING AT gpu-7
//   =   EXIT CODE: 139
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_hydra_table(std::string_view text);
std::unique_ptr<Document> make_hydra_table();

}  // namespace faultline
