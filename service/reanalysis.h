// Reanalysis: reads the kept lines of a job again, with the present parsers and signatures, and
// puts the resulting events into its batches. Calls stay as they are, and so do events of lines
// that are not kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "model/noteworthy.h"
#include "store/store.h"

namespace faultline {

struct ReanalysisTold {
  std::uint64_t sources = 0;  // with kept lines
  std::uint64_t lines = 0;    // read again
  std::uint64_t bytes = 0;    // of these lines in the logs
  std::uint64_t events_new = 0;
  std::uint64_t events_gone = 0;
  std::uint64_t damaged = 0;  // stretches that could not be read
};

// Nothing more is stored once `wanted` returns false. Nobody else may change the job's batches
// meanwhile; new batches may come.
ReanalysisTold reanalyze(
    Store& store, const std::string& job, const std::shared_ptr<const Noteworthy>& noteworthy,
    const std::function<bool()>& wanted = [] { return true; });

}  // namespace faultline
