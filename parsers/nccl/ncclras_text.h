// The text output of ncclras (2.24.3 and later): a status report, which names only what is out of
// the ordinary, or the events of the monitor, one a line.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "parsers/document.h"

namespace faultline {

bool begins_ncclras_text(std::string_view text);
std::unique_ptr<Document> make_ncclras_text();

// [2026-03-05 02:47:11] PEER_DEAD: Process 4711 on node 10.0.0.7 managing GPU 3
bool parse_ncclras_event(std::string_view text, std::vector<Reading>& readings);

}  // namespace faultline
