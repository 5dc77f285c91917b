#include "app/input_walker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

namespace faultline {
namespace {

namespace fs = std::filesystem;

Timestamp change_time(const struct stat& status) {
  const auto since_1970 = std::chrono::seconds(status.st_mtim.tv_sec) +
                          std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  return Timestamp(std::chrono::floor<std::chrono::microseconds>(since_1970));
}

std::string reason(int error) { return std::generic_category().message(error); }

// By name; but of a rotated log (nccl.log.2.gz, nccl.log.1, nccl.log) the oldest part first,
// because a log is read from its beginning.
std::tuple<std::string, int, std::string> reading_order(const InputFile& file) {
  constexpr std::size_t kMostDigits = 2;  // a longer number is a process id
  std::string_view name = file.name;
  for (std::string_view packed : {".gz", ".zst"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  const std::size_t dot = name.rfind('.');
  int age = 0;
  if (dot != std::string_view::npos && dot > 0) {
    const std::string_view digits = name.substr(dot + 1);
    const bool number = !digits.empty() && digits.size() <= kMostDigits &&
                        std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (number) {
      age = std::stoi(std::string(digits));
      name = name.substr(0, dot);
    }
  }
  return {std::string(name), -age, file.name};
}

class Walk {
 public:
  Walk(bool only_argument, Timestamp now) : only_argument_(only_argument), now_(now) {}

  Result<void> argument(const std::string& path) {
    if (path == InputFile::kStdin) {
      inputs_.files.push_back({"stdin", path, std::nullopt, now_});
      return {};
    }
    struct stat status{};
    if (stat(path.c_str(), &status) != 0 || access(path.c_str(), R_OK) != 0)
      return Error{Error::Kind::not_found, fmt::format("cannot read {}: {}", path, reason(errno))};

    const auto first = static_cast<std::ptrdiff_t>(inputs_.files.size());
    if (S_ISDIR(status.st_mode) || S_ISREG(status.st_mode)) {
      visit(path, S_ISDIR(status.st_mode) && only_argument_ ? "" : path, status);
    } else {
      inputs_.files.push_back({path, path, std::nullopt, now_});
    }
    follow_links();
    std::sort(
        inputs_.files.begin() + first, inputs_.files.end(),
        [](const InputFile& a, const InputFile& b) { return reading_order(a) < reading_order(b); });
    return {};
  }

  Inputs take() { return std::move(inputs_); }

 private:
  void visit(const fs::path& path, const fs::path& name, const struct stat& status) {
    const bool folder = S_ISDIR(status.st_mode);
    if (!folder && !S_ISREG(status.st_mode)) return;
    if (!seen_.emplace(status.st_dev, status.st_ino).second) return;
    if (folder) {
      visit_entries(path, name);
    } else {
      inputs_.files.push_back({name.string(), path.string(),
                               static_cast<std::uint64_t>(status.st_size), change_time(status)});
    }
  }

  void visit_entries(const fs::path& folder, const fs::path& name) {
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
      entries.push_back(entry->path());
    if (error) warn(folder, error.value());
    std::sort(entries.begin(), entries.end());

    for (const fs::path& entry : entries) {
      struct stat status{};
      const fs::path entry_name = name / entry.filename();
      if (lstat(entry.c_str(), &status) != 0) {
        warn(entry, errno);
      } else if (S_ISLNK(status.st_mode)) {
        links_.emplace_back(entry, entry_name);
      } else {
        visit(entry, entry_name, status);
      }
    }
  }

  // Links come last, so that a file that is also linked to keeps its own name.
  void follow_links() {
    while (!links_.empty()) {
      for (const auto& [path, name] : std::exchange(links_, {})) {
        struct stat status{};
        if (stat(path.c_str(), &status) != 0) {
          warn(path, errno);
        } else {
          visit(path, name, status);
        }
      }
    }
  }

  void warn(const fs::path& path, int error) {
    inputs_.warnings.push_back(fmt::format("cannot read {}: {}", path.string(), reason(error)));
  }

  bool only_argument_;
  Timestamp now_;
  Inputs inputs_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<std::pair<fs::path, fs::path>> links_;  // paths, and names in the answer
};

}  // namespace

Result<Inputs> find_inputs(const std::vector<std::string>& arguments, Timestamp now) {
  Walk walk(arguments.size() == 1, now);
  for (const std::string& argument : arguments)
    if (auto walked = walk.argument(argument); !walked) return walked.error();
  Inputs inputs = walk.take();
  if (inputs.files.empty()) {
    return Error{Error::Kind::not_found,
                 fmt::format("there is no file in {}", fmt::join(arguments, ", "))};
  }
  return inputs;
}

}  // namespace faultline
