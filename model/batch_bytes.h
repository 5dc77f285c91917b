// A batch as bytes: self-contained, small, and safe to read back from a damaged file or a hostile
// sender. Its events are not among them: the store keeps those as rows, and whoever sends a batch
// writes them beside it.
#pragma once

#include <string>
#include <string_view>

#include "model/batch.h"
#include "model/result.h"

namespace faultline {

std::string write_batch(const Batch& batch);

// Returns the batch without its events. Takes any bytes; refuses what write_batch did not write.
// Whether its numbers make sense together is not checked.
Result<Batch> read_batch(std::string_view bytes);

}  // namespace faultline
