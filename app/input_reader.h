// Turns one input into batches: opens it, unpacks it, and reads each file in it as a source of its
// own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/input_walker.h"
#include "ingest/reader.h"
#include "model/batch.h"

namespace faultline {

struct SourceBatch {
  std::shared_ptr<const Source> source;
  Batch batch;
  Timestamp received;
};

// Takes a batch; false: no more batches are wanted, stop.
using Deliver = std::function<bool(SourceBatch)>;

struct InputEnd {
  bool readable = false;           // false: not one byte could be read
  std::string trouble;             // why not all of it was read; empty: it was
  std::vector<std::string> hints;  // why nothing in some of its files is read, with their names
};

// `said`: what the caller knows of every source, its job and host. Several threads may use
// `noteworthy` at once. `bytes_read` counts bytes as they are in the file, to be compared with its
// size. `now`: no line is later than this; the time of the file does not tell, because files are
// copied. `boot_time`: of the host whose kernel logs these are.
InputEnd read_input(const InputFile& input, const Source& said,
                    const std::shared_ptr<const Noteworthy>& noteworthy,
                    std::atomic<std::uint64_t>& bytes_read, Timestamp now, const Deliver& deliver,
                    std::optional<Timestamp> boot_time = std::nullopt);

}  // namespace faultline
