// The lines of PyTorch's watchdog and heartbeat monitor, from 1.13 on.
#pragma once

#include <string_view>
#include <vector>

#include "parsers/parser.h"

namespace faultline {

// Work that timed out, also if the line has a break after "timeout:".
bool parse_torch_timeout(std::string_view text, std::vector<Reading>& readings);

// Whether the first report of a time-out in the text is all there, with nothing between its words.
bool is_whole_torch_timeout(std::string_view text);

// The last work that was enqueued and completed: after a failure, or from time to time.
bool parse_torch_status(std::string_view text, std::vector<Reading>& readings);

// The rank that told this rank to dump its Flight Recorder.
bool parse_torch_dump_signal(std::string_view text, std::vector<Reading>& readings);

// The thread of the watchdog is stuck.
bool parse_torch_stuck(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
