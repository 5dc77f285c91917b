// The lines of PyTorch's watchdog and heartbeat monitor, from 1.13 on.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// Work that ran out of time, also where the line was wrapped behind "timeout:".
bool parse_torch_timeout(std::string_view text, std::vector<Reading>& readings);

// What is enqueued and completed: of a failure, or now and then.
bool parse_torch_status(std::string_view text, std::vector<Reading>& readings);

// Who told this rank to dump what it knows.
bool parse_torch_dump_signal(std::string_view text, std::vector<Reading>& readings);

// The watchdog's thread does not get on.
bool parse_torch_stuck(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
