#include "ship/log_holder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "ship/small_file.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

bool writes(const fs::path& process, const std::string& descriptor) {
  const std::string info = read_small_file(process / "fdinfo" / descriptor);
  const std::size_t at = info.find("flags:");
  if (at == std::string::npos) return false;
  const unsigned long flags = std::strtoul(info.c_str() + at + 6, nullptr, 8);
  return (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace

void visit_written_files(const std::string& process,
                         const std::function<void(const FileId&)>& visit) {
  std::error_code error;
  for (fs::directory_iterator entry(fs::path(process) / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat status{};
    if (stat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        writes(process, entry->path().filename().string()))
      visit({status.st_dev, status.st_ino});
  }
}

LogHolders::LogHolders(const std::string& proc) {
  for (const int id : process_ids(proc)) look_at((fs::path(proc) / std::to_string(id)).string());
}

void LogHolders::look_at(const std::string& process) {
  std::optional<ProcessLabels> own;
  visit_written_files(process, [&](const FileId& file) {
    if (!own) own = labels_in(variables_of(process));
    const auto [labels, is_first] = labels_.emplace(std::pair(file.device, file.inode), *own);
    if (is_first) return;
    if (labels->second.job != own->job) labels->second.job.clear();
    if (labels->second.rank != own->rank) labels->second.rank = -1;
  });
}

std::optional<ProcessLabels> LogHolders::of(const FileId& file) const {
  const auto found = labels_.find({file.device, file.inode});
  return found == labels_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace faultline
