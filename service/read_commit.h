// Makes a commit of what a reader has read since the last call.
#pragma once

#include <string_view>

#include "ingest/reader.h"
#include "store/store.h"

namespace faultline {

// The caller fills in the fingerprint and the time of receipt. `carry_before`: the carry of the
// cursor at which the commit begins.
Commit take_commit(Reader& reader, const Source& source, std::string_view carry_before);

}  // namespace faultline
