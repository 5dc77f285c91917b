// The table of kept lines: what was read of each source, without its calls, so that it can be read
// again and shown. Their size is limited; the oldest lines of a job go first.
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

// For a commit that keeps its lines. `content` is compressed; empty: only calls were read.
void keep_lines(Database& database, const AdvancedSource& source, const Commit& commit,
                std::string_view content);

// Visits what is kept of one source, in the order of commits, one row in memory at a time: the
// lines of each batch, then the batch. Leaves out batches without kept lines. Returns how many rows
// of lines were left out because they are damaged.
std::size_t walk_kept_lines(Database& database, std::string_view job, std::string_view source,
                            const std::function<void(const KeptLines&)>& on_lines,
                            const std::function<void(const StoredBatch&)>& on_batch);

// Visits the rows in which the wanted lines may stand, in the order of commits, one in memory at a
// time. Of very many it visits those nearest to `wanted.line`. False: some cannot be read.
bool visit_kept_lines(Database& database, std::string_view job, std::string_view source,
                      const LineRange& wanted, const std::function<void(const KeptLines&)>& visit);

struct KeptOfJob {
  std::string job;
  std::uint64_t bytes = 0;
};
std::vector<KeptOfJob> select_kept_of_jobs(Database& database, std::uint64_t more_than);

// The job's oldest rows that together take this many bytes: returns the number of the last of them;
// 0: there are none.
std::int64_t last_of_oldest_kept_lines(Database& database, std::string_view job,
                                       std::uint64_t bytes);

// Deletes some of the job's rows, from number `from` to `last`. Returns where to go on; nothing:
// all are deleted.
std::optional<std::int64_t> delete_some_kept_lines(Database& database, std::string_view job,
                                                   std::int64_t from, std::int64_t last);

}  // namespace faultline
