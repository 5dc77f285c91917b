// Reads a log where it is written: an agent sends what it says instead of its lines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/reader.h"
#include "model/time.h"

namespace faultline {

// Blocks (ingest/block_frames.h) of the next bytes of a log, and moves the cursor behind them.
// Nothing, and the cursor stays: they must be sent as they are. So must be whatever the server does
// not read by lines: dumps, traces, packed files; and what says too much for a block.
std::optional<std::string> read_at_the_edge(Cursor& cursor, std::string_view bytes,
                                            Timestamp received,
                                            std::shared_ptr<const Noteworthy> noteworthy);

}  // namespace faultline
