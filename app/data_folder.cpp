#include "app/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "app/commands.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

bool is_allowed(const fs::path& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

}  // namespace

std::string wrong_data_folder(const fs::path& folder) {
  // The nearest folder that exists: missing folders have to be made in it.
  fs::path there = fs::absolute(folder).lexically_normal();
  std::error_code error;
  while (!fs::exists(there, error) && there.has_relative_path()) {
    if (error && error != std::errc::not_a_directory)
      return fmt::format("cannot be accessed: {}", error.message());
    there = there.parent_path();
  }
  if (!fs::is_directory(there, error))
    return fmt::format("{} is not a folder; name a folder, or one that can be made",
                       there.string());
  if (!is_allowed(there, W_OK | X_OK))
    return fmt::format("user {} may not write in {}; give it to that user, or name another folder",
                       geteuid(), there.string());
  const fs::path database = there / kDatabase;
  if (fs::exists(database, error) && !is_allowed(database, R_OK | W_OK))
    return fmt::format("user {} may not read and write {}; give it to that user", geteuid(),
                       database.string());
  return {};
}

}  // namespace faultline
