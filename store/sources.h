// The table of sources, and how far each of them has been read.
#pragma once

#include <cstddef>
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

// SourcePosition::carry as it is written: a large one is compressed.
class StoredCarry {
 public:
  // Of a reader, which carries less: 16 MB of an unfinished dump, and a little around them.
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  explicit StoredCarry(std::string carry);

  std::string_view bytes() const { return bytes_; }
  int form() const { return is_compressed_ ? 1 : 0; }

 private:
  bool is_compressed_;
  std::string bytes_;
};

struct AdvancedSource {
  std::int64_t id = 0;
  std::uint64_t kept_to = 0;  // where its kept lines ended before
};

// Moves the source to the end of the commit; `carry` is that of the commit. Throws SourceMovedOn if
// the source does not stand where the commit begins.
AdvancedSource advance_source(Database& database, const Commit& commit, const StoredCarry& carry);

}  // namespace faultline
