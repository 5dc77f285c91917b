// Tables of Slurm: what became of jobs and their steps (sacct), and how nodes are (sinfo, sinfo -R,
// sinfo -N -l). Their users choose the columns, so these are found by the names in the head.
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
