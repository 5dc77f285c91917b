#include "ship/find_logs.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "ship/log_files.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

// Folders below each other; deeper ones are a loop of links.
constexpr int kMostDepth = 16;

class LogSearch {
 public:
  LogSearch(const std::set<std::string>& known, std::size_t most) : known_(known), most_(most) {}

  void argument(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) {
      folder(path, 0);
    } else if (fs::is_regular_file(status) || !fs::exists(status)) {
      if (path.has_parent_path()) found_.folders.insert(path.parent_path().string());
      add(path);
    }
  }

  FoundLogs take() { return std::move(found_); }

 private:
  void folder(const fs::path& path, int depth) {
    found_.folders.insert(path.string());
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      std::error_code ignored;
      const fs::path& below = entry->path();
      // What programs write beside before they rename it.
      if (below.filename().string().starts_with('.')) continue;
      if (entry->is_directory(ignored)) {
        if (depth < kMostDepth) folder(below, depth + 1);
      } else if (entry->is_regular_file(ignored)) {
        add(below);
      }
    }
  }

  // nccl.log.1 is a part of nccl.log if there is such a log. rank.1 beside rank.2 is a log.
  void add(const fs::path& path) {
    const fs::path log = path.parent_path() / log_name_of(path.filename().string());
    std::error_code ignored;
    const bool is_part = log != path && (known_.contains(log.string()) || fs::exists(log, ignored));
    const std::string& name = is_part ? log.native() : path.native();
    if (found_.logs.size() >= most_ && !found_.logs.contains(name))
      found_.too_many = true;
    else
      found_.logs.insert(name);
  }

  const std::set<std::string>& known_;
  std::size_t most_;
  FoundLogs found_;
};

}  // namespace

FoundLogs find_logs(const std::vector<std::string>& patterns, const std::set<std::string>& known,
                    std::size_t most) {
  LogSearch search(known, most);
  for (const std::string& pattern : patterns) {
    std::error_code ignored;
    if (pattern.find_first_of("*?[") == std::string::npos || fs::exists(pattern, ignored)) {
      search.argument(fs::absolute(pattern, ignored).lexically_normal());
      continue;
    }
    glob_t matches{};
    if (glob(pattern.c_str(), 0, nullptr, &matches) == 0)
      for (std::size_t i = 0; i < matches.gl_pathc; ++i)
        search.argument(fs::absolute(matches.gl_pathv[i], ignored).lexically_normal());
    globfree(&matches);
  }
  return search.take();
}

}  // namespace faultline
