// What a reader has read since it was asked last, as a commit.
#pragma once

#include <string_view>

#include "ingest/reader.h"
#include "store/store.h"

namespace faultline {

// Without a fingerprint, and when it was received. `carry_before`: of the cursor where it begins.
Commit take_commit(Reader& reader, const Source& source, std::string_view carry_before);

}  // namespace faultline
