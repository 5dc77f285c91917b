// Tables of Slurm: how jobs and their steps ended (sacct), and the state of nodes (sinfo, sinfo -R,
// sinfo -N -l). Users choose the columns, so these are found by their names in the head.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/document.h"

namespace faultline {

bool begins_sacct(std::string_view text);
std::unique_ptr<Document> make_sacct();

bool begins_sinfo(std::string_view text);
std::unique_ptr<Document> make_sinfo();

}  // namespace faultline
