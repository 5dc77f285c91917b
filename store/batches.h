// The tables of batches and events: what was read, for ever.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

// `content` is the commit's encoded batch.
void insert_batch(Database& database, std::int64_t source, const Commit& commit,
                  std::string_view content);

std::vector<Fingerprint> select_fingerprints(Database& database, std::string_view job,
                                             std::string_view source);

// One batch at a time, with nothing held open while `visit` has it: a long replay keeps neither
// memory nor the writer's log.
void replay_batches(Database& database,
                    const std::function<void(const Source&, const Batch&, Timestamp)>& visit);

}  // namespace faultline
