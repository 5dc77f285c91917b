// Nodes as JSON: `scontrol show nodes --json`, `sinfo --json`, and the answers of slurmrestd.
#pragma once

#include <memory>
#include <string_view>

#include "parsers/json/json_document.h"

namespace faultline {

bool begins_slurm_json(std::string_view first_key);
std::unique_ptr<JsonReport> make_slurm_json();

}  // namespace faultline
