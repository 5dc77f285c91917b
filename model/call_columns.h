// The calls of a batch, column by column. Fields that the history predicts cost next to nothing.
//
// Ranks repeat themselves: the same signatures step by step, lines of the same length, operation
// counts with the same stride. So writer and reader keep tables of what followed what, and only
// surprises are written: one byte for each call says which fields were not as expected (nearly
// always 0, which zstd then folds), and those fields follow in columns of their own.
#pragma once

#include <vector>

#include "model/batch.h"
#include "model/bytes.h"

namespace faultline {

// A batch of more calls is refused, so that a few damaged bytes cannot ask for all the memory. The
// Reader ends a batch every few megabytes of log, which hold some ten thousand calls.
constexpr std::size_t kMaxCallsPerBatch = std::size_t{1} << 22;

void write_calls(const std::vector<CallRun>& runs, ByteWriter& out);

// Fills in the calls of `runs`, whose other fields are there already. Throws BadBytes. with_times:
// false for the forms of batches from before calls had times.
void read_calls(ByteReader& in, std::vector<CallRun>& runs, bool with_times = true);

}  // namespace faultline
