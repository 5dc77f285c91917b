// Kept calls: the folded result of a job's calls, stored in place of the calls themselves. A long
// job has billions of calls, and the result stays small.
//
// First the result is stored. From then on a replay gives it, and the calls of the batches that it
// covers must not be counted again. Then the calls are dropped from those batches, some at a time,
// and batches that hold no events either are joined. Whenever the power fails, a replay gives the
// same state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "store/sqlite.h"

namespace faultline {

struct KeptCalls {
  std::int64_t through = 0;    // number of the last batch whose calls are in it
  Result<std::string> packed;  // or how it is damaged
};

// `content` is compressed.
void put_kept_calls(Database& database, std::string_view job, std::int64_t through,
                    std::string_view content);

// Nothing: none is kept.
std::optional<KeptCalls> select_kept_calls(Database& database, std::string_view job);

void delete_kept_calls(Database& database, std::string_view job);

std::vector<std::string> select_jobs_with_kept_calls_to_drop(Database& database);

struct DroppedCalls {
  std::optional<std::int64_t> next_source;  // to go on with; nothing: all is done
  std::size_t batches = 0;
};

// Drops the calls of some batches of one source: this one, or the next that has some.
DroppedCalls drop_some_calls(Database& database, std::string_view job, std::int64_t source);

}  // namespace faultline
