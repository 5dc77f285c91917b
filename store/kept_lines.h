// The table of kept lines: what was read of each source, less its calls, so that it can be read
// again and shown. Within a limit: the oldest of a job go first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/sources.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// Of a commit that keeps its lines. `content` is compressed; empty: only calls were read.
void keep_lines(Database& database, const AdvancedSource& source, const Commit& commit,
                std::string_view content);

// Of one source, in the order of commits, one in memory at a time: lines, and after those of a
// batch the batch. One that no lines are kept of is left out. Returns how many rows of lines are
// damaged, and left out.
std::size_t walk_kept_lines(Database& database, std::string_view job, std::string_view source,
                            const std::function<void(const KeptLines&)>& on_lines,
                            const std::function<void(const StoredBatch&)>& on_batch);

// Those in which these lines may stand, in the order of commits, one in memory at a time; of very
// many those that are nearest to the line. What is damaged is left out.
void visit_kept_lines(Database& database, std::string_view job, std::string_view source,
                      const LineRange& wanted, const std::function<void(const KeptLines&)>& visit);

struct KeptOfJob {
  std::string job;
  std::uint64_t bytes = 0;
};
std::vector<KeptOfJob> select_kept_of_jobs(Database& database, std::uint64_t more_than);

// Number of the last of the job's oldest rows that take so much together; 0: there are none.
std::int64_t last_of_oldest_kept_lines(Database& database, std::string_view job,
                                       std::uint64_t bytes);

// Some of the job's, from one number on up to another. Returns from where to go on.
std::optional<std::int64_t> delete_some_kept_lines(Database& database, std::string_view job,
                                                   std::int64_t from, std::int64_t last);

}  // namespace faultline
