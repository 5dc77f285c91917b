#include "ship/find_logs.h"

#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ship/log_files.h"

namespace faultline {
namespace {

namespace fs = std::filesystem;

// Files and folders. A folder can be as large as its users like.
constexpr std::size_t kMostLookedAt = 200'000;

// Only root, this user and the owner of what it leads to may say by a link what is read: others
// would get at files that they may not read themselves.
bool may_lead_to(const struct stat& target, const fs::path& link) {
  struct stat own{};
  return !S_ISLNK(target.st_mode) && lstat(link.c_str(), &own) == 0 && S_ISLNK(own.st_mode) &&
         (own.st_uid == 0 || own.st_uid == geteuid() || own.st_uid == target.st_uid);
}

// Whether `path`, which lies below `folder` by its name, leads out of it to a file that whoever
// made the links on the way may not name.
bool leads_astray(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path inside = fs::canonical(folder, error);
  const fs::path real = error ? fs::path() : fs::canonical(path, error);
  struct stat target{};
  if (error || lstat(real.c_str(), &target) != 0) return true;
  const auto [end, unused] = std::mismatch(inside.begin(), inside.end(), real.begin(), real.end());
  if (end == inside.end()) return false;
  bool any = false;
  for (fs::path way = path; way != folder && way.has_relative_path(); way = way.parent_path()) {
    if (!fs::is_symlink(way, error)) continue;
    if (!may_lead_to(target, way)) return true;
    any = true;
  }
  return !any;  // the link that led there is gone meanwhile
}

class LogSearch {
 public:
  LogSearch(const std::set<std::string>& known, const std::string& except, std::size_t most)
      : known_(known), most_(most) {
    struct stat status{};
    if (stat(except.c_str(), &status) == 0) seen_.emplace(status.st_dev, status.st_ino);
  }

  void argument(const fs::path& path) {
    struct stat status{};
    std::error_code error;
    if (stat(path.c_str(), &status) != 0) {
      const fs::path real = fs::weakly_canonical(path, error);
      if (error) return;
      if (real.has_parent_path()) found_.folders.insert(real.parent_path().string());
      return add(real);
    }
    const fs::path real = fs::canonical(path, error);
    if (error) return;
    if (S_ISREG(status.st_mode)) found_.folders.insert(real.parent_path().string());
    visit(real);
  }

  // Links come last, so that a file that is also linked to keeps its own name; and nothing is found
  // twice, however many ways lead to it.
  FoundLogs take() {
    while (!links_.empty())
      for (const fs::path& link : std::exchange(links_, {})) follow(link);
    return std::move(found_);
  }

 private:
  // The files of a rotated log lie where the log lies, not where the link to it does.
  void follow(const fs::path& link) {
    std::error_code error;
    const fs::path real = fs::canonical(link, error);
    struct stat status{};
    // First where it leads, then who says so: what is looked at later may have been exchanged.
    if (!error && lstat(real.c_str(), &status) == 0 && may_lead_to(status, link)) visit(real);
  }

  void visit(const fs::path& path) {
    struct stat status{};
    if (stat(path.c_str(), &status) != 0) return;
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return;
    if (!seen_.emplace(status.st_dev, status.st_ino).second) return;
    if (S_ISDIR(status.st_mode))
      folder(path);
    else
      add(path);
  }

  void folder(const fs::path& path) {
    found_.folders.insert(path.string());
    std::error_code error;
    std::set<fs::path> entries;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      if (++looked_at_ > kMostLookedAt) {
        found_.too_many = true;
        return;
      }
      // Programs write such files beside before they rename them.
      if (entry->path().filename().string().starts_with('.')) continue;
      std::error_code ignored;
      if (entry->is_symlink(ignored))
        links_.push_back(entry->path());
      else
        entries.insert(entry->path());
    }
    for (const fs::path& entry : entries) visit(entry);
  }

  // nccl.log.1 is a part of nccl.log if there is such a log. rank.1 beside rank.2 is a log.
  void add(const fs::path& path) {
    const fs::path log = path.parent_path() / log_name_of(path.filename().string());
    std::error_code ignored;
    const bool is_part =
        log != path && (known_.contains(log.string()) || fs::is_regular_file(log, ignored));
    const std::string& name = is_part ? log.native() : path.native();
    if (found_.logs.size() >= most_ && !found_.logs.contains(name))
      found_.too_many = true;
    else
      found_.logs.insert(name);
  }

  const std::set<std::string>& known_;
  std::size_t most_;
  std::size_t looked_at_ = 0;
  FoundLogs found_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<fs::path> links_;
};

}  // namespace

FoundLogs find_logs(const std::vector<std::string>& patterns, const std::set<std::string>& known,
                    const std::string& except, std::size_t most) {
  LogSearch search(known, except, most);
  for (const std::string& pattern : patterns) {
    std::error_code ignored;
    if (pattern.find_first_of("*?[") == std::string::npos || fs::exists(pattern, ignored)) {
      search.argument(fs::absolute(pattern, ignored).lexically_normal());
      continue;
    }
    const fs::path whole = fs::absolute(pattern, ignored).lexically_normal();
    fs::path named;  // up to the first component that is a pattern
    for (const fs::path& part : whole) {
      if (part.native().find_first_of("*?[") != std::string::npos) break;
      named /= part;
    }
    glob_t matches{};
    if (glob(whole.c_str(), 0, nullptr, &matches) == 0)
      for (std::size_t i = 0; i < matches.gl_pathc; ++i)
        if (!leads_astray(named, matches.gl_pathv[i])) search.argument(matches.gl_pathv[i]);
    globfree(&matches);
  }
  return search.take();
}

}  // namespace faultline
