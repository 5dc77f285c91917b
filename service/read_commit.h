// Makes a commit of a block that was read.
#pragma once

#include <string_view>

#include "ingest/read_block.h"
#include "store/store.h"

namespace faultline {

// The caller fills in the time of receipt, and whether a body starts with it.
Commit commit_of(ReadBlock block, const Source& source);

// The same of what a reader has read since the last call; the caller fills in the digests, too.
// `carry_before`: the carry of the cursor at which the commit begins.
Commit take_commit(Reader& reader, const Source& source, std::string_view carry_before);

}  // namespace faultline
