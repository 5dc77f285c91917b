#include "rules/picture/who/source_attempts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace faultline {
namespace {

// "logs/attempt_1/0/stderr.log" -> "logs/attempt_", 1: torchrun makes such a folder each time.
struct AttemptFolder {
  std::string_view front;
  long number = 0;
};

std::optional<AttemptFolder> attempt_folder_in(std::string_view path) {
  constexpr auto kWords = std::to_array<std::string_view>({"attempt", "restart", "retry"});
  for (std::size_t begin = 0, slash = path.find('/'); slash != std::string_view::npos;
       begin = slash + 1, slash = path.find('/', begin)) {
    const std::string_view folder = path.substr(begin, slash - begin);
    for (const std::string_view word : kWords) {
      if (!folder.starts_with(word)) continue;
      std::size_t digits = word.size();
      if (digits < folder.size() && (folder[digits] == '_' || folder[digits] == '-')) ++digits;
      long number = 0;
      const char* end = folder.data() + folder.size();
      const auto [stop, error] = std::from_chars(folder.data() + digits, end, number);
      if (error == std::errc() && stop == end)
        return AttemptFolder{path.substr(0, begin + digits), number};
    }
  }
  return std::nullopt;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

}  // namespace

SourceAttempts::SourceAttempts(const View& view) : view_(view) {
  if (view.attempts.count > 1)
    learn_from_members();
  else
    learn_from_folders();
}

void SourceAttempts::learn_from_members() {
  const auto& members = view_.job.progress().members();
  for (std::size_t index = 0; index < members.size(); ++index) {
    const int attempt = view_.attempts.of_member[index];
    if (const LineRef& init = members[index].init_line; init.known())
      beginnings_[init.source].push_back({init.line, attempt});
    std::string_view folder = folder_of(view_.job.sources().at(members[index].source).source.name);
    for (; !folder.empty(); folder = folder_of(folder)) {
      int& known = of_folder_.try_emplace(std::string(folder), attempt).first->second;
      if (known != attempt) known = kSeveral;
    }
  }
  for (auto& [source, all] : beginnings_) std::ranges::stable_sort(all, {}, &Beginning::line);
}

void SourceAttempts::learn_from_folders() {
  for (const SourceState& state : view_.job.sources().all())
    if (const auto folder = attempt_folder_in(state.source.name)) {
      long& latest = latest_folder_[std::string(folder->front)];
      latest = std::max(latest, folder->number);
    }
}

// Processes that were started again print into the logs in which those before them did.
int SourceAttempts::attempt_by_lines(const LineRef& line) const {
  const auto known = beginnings_.find(line.source);
  if (known == beginnings_.end()) return 0;
  const auto after = std::ranges::upper_bound(known->second, line.line, {}, &Beginning::line);
  return after == known->second.begin() ? 0 : std::prev(after)->attempt;
}

// What lies in one folder is of one attempt, if all of it that tells is.
int SourceAttempts::attempt_by_files_beside(std::string_view path) const {
  for (std::string_view folder = folder_of(path); !folder.empty(); folder = folder_of(folder))
    if (const auto known = of_folder_.find(std::string(folder)); known != of_folder_.end())
      return known->second == kSeveral ? 0 : known->second;
  return 0;
}

bool SourceAttempts::in_attempt(const LineRef& line) const {
  const std::string& path = view_.job.sources().at(line.source).source.name;
  if (view_.attempts.count < 2) {
    if (latest_folder_.empty()) return true;
    const auto folder = attempt_folder_in(path);
    return !folder || latest_folder_.at(std::string(folder->front)) == folder->number;
  }
  int attempt = attempt_by_lines(line);
  if (attempt == 0 && !beginnings_.contains(line.source)) attempt = attempt_by_files_beside(path);
  return attempt == 0 || attempt == view_.attempt;
}

}  // namespace faultline
