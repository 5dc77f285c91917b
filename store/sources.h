// The table of sources, and how far each of them has been read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/sqlite.h"
#include "store/store.h"

namespace faultline {

std::vector<StoredJob> select_jobs(Database& database);
std::vector<StoredSource> select_sources(Database& database, std::string_view job);
std::optional<StoredSource> select_source(Database& database, std::string_view job,
                                          std::string_view name);

struct AdvancedSource {
  std::int64_t id = 0;
  std::uint64_t kept_to = 0;  // where its kept lines ended before
};

// Moves the source to the end of the commit. Throws SourceMovedOn if the source does not stand
// where the commit begins.
AdvancedSource advance_source(Database& database, const Commit& commit);

}  // namespace faultline
