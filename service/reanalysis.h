// Reanalysis: the kept lines of a job are read again, with the parsers and signatures of now, and
// its batches tell what that gives. Calls stay as they are, and so does what was told by lines that
// are not kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ingest/noteworthy.h"
#include "store/store.h"

namespace faultline {

struct ReanalysisTold {
  std::uint64_t sources = 0;  // with lines that are kept
  std::uint64_t lines = 0;    // read again
  std::uint64_t bytes = 0;    // that they took in the logs
  std::uint64_t events_new = 0;
  std::uint64_t events_gone = 0;
  std::uint64_t damaged = 0;  // stretches that could not be read
};

// Nothing of it is stored once the job is not `wanted` any more. Nobody else may change the job's
// batches meanwhile; new ones may come.
ReanalysisTold reanalyze(
    Store& store, const std::string& job, const std::shared_ptr<const Noteworthy>& noteworthy,
    const std::function<bool()>& wanted = [] { return true; });

}  // namespace faultline
