#include "store/migrations.h"

#include <fmt/format.h>

#include <cassert>

namespace faultline {

void migrate(Database& database, const std::vector<Migration>& steps) {
  const auto newest = static_cast<std::int64_t>(steps.size());
  std::int64_t version = database.number("PRAGMA user_version");
  if (version > newest)
    throw StoreError(
        fmt::format("{}: was written by a newer Faultline (schema {}, this program knows {}); "
                    "install that version or choose another data folder",
                    database.file().string(), version, newest));
  while (version < newest) {
    const Migration& step = steps[static_cast<std::size_t>(version)];
    ++version;
    // A missing or doubled number would give later steps the wrong version.
    assert(step.name.starts_with(fmt::format("{:04}_", version)));
    Transaction transaction(database);
    database.execute(std::string(step.text));
    database.execute(fmt::format("PRAGMA user_version = {}", version));
    transaction.commit();
  }
}

}  // namespace faultline
