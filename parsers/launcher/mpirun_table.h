// The lines in which mpirun names the process that ended first, and how:
//   Process name: [[56171,1],6]
//   Exit code:    3
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_mpirun_table(std::string_view text);
std::unique_ptr<Document> make_mpirun_table();

}  // namespace faultline
