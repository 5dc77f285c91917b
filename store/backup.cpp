#include "store/backup.h"

#include <fmt/format.h>

#include <memory>
#include <system_error>

#include "store/open.h"
#include "store/sqlite.h"

namespace faultline {

CopyTold back_up(const std::filesystem::path& database, const std::filesystem::path& copy) {
  std::error_code error;
  if (!std::filesystem::exists(database, error))
    throw StoreError(
        fmt::format("{}: there is no such database; name the folder that the server uses as --data",
                    database.string()));
  if (std::filesystem::exists(copy, error))
    throw StoreError(fmt::format("{}: already exists; choose another name", copy.string()));
  const std::unique_ptr<Database> from = open_for_reading(database);
  const UnfinishedCopy unfinished(copy);
  CopyTold told;
  {
    Database to(unfinished.path(), Database::Access::read_write);
    to.take_all_of(*from);
    told = unfinished.check(to, database);
  }
  unfinished.finish();
  return told;
}

}  // namespace faultline
