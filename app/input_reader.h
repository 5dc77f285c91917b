// One input becomes batches: opened, unpacked, each file in it read as a source of its own.
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

// Takes a batch; false: nobody wants more, stop.
using Deliver = std::function<bool(SourceBatch)>;

struct InputEnd {
  bool readable = false;           // not a byte could be read otherwise
  std::string trouble;             // why not all of it was read; empty: it was
  std::vector<std::string> hints;  // of its files, with their names: why nothing in them is read
};

// `said` is what the caller knows of every source: job and host. Several threads may ask
// `noteworthy` at once. Bytes are counted as they stand in the file, so that they compare with its
// size. `now`: no line is from later; when a file was written says nothing, for files are copied.
// `boot_time`: of the host whose kernel logs these are.
InputEnd read_input(const InputFile& input, const Source& said,
                    const std::shared_ptr<const Noteworthy>& noteworthy,
                    std::atomic<std::uint64_t>& bytes_read, Timestamp now, const Deliver& deliver,
                    std::optional<Timestamp> boot_time = std::nullopt);

}  // namespace faultline
