// The calls of a batch, column by column: what a history leads one to expect costs nothing.
//
// Ranks repeat themselves: the same signatures step by step, lines of the same length, operation
// counts with the same stride. So both sides keep tables of what followed what, and only surprises
// are written: one byte a call says which fields were not as expected (nearly always 0, which zstd
// then folds), and those fields follow in columns of their own.
#pragma once

#include <vector>

#include "model/batch.h"
#include "model/bytes.h"

namespace faultline {

// A batch of more calls is refused: so a few damaged bytes cannot ask for all the memory. Reading
// takes a batch every few megabytes of log, which are some ten thousand calls.
constexpr std::size_t kMaxCallsPerBatch = std::size_t{1} << 22;

void write_calls(const std::vector<CallRun>& runs, ByteWriter& out);

// Fills the calls of `runs`, which are otherwise as they were. Throws BadBytes. with_times: false
// for the forms of batches from before calls had times.
void read_calls(ByteReader& in, std::vector<CallRun>& runs, bool with_times = true);

}  // namespace faultline
