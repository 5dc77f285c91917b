#include "rules/picture/who/source_attempts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace faultline {
namespace {

// "logs/attempt_1/0/stderr.log" -> "logs/attempt_", 1. torchrun makes such a folder for each
// attempt.
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

// A fault that stops a job does so within this time, whatever its peers still print.
constexpr std::int64_t kStopsWithinUs = 60'000'000;

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
  learn_from_steps();
}

void SourceAttempts::learn_from_steps() {
  for (const PartRecord& record : view_.job.parts().records()) {
    if (record.kind != "training") continue;
    const PartSeries* lines = view_.job.parts().find(record, "lines");
    const LineRef* step = lines == nullptr ? nullptr : lines->last().line.get();
    if (step == nullptr || !step->time.wall_us) continue;
    const bool assumed = step->time.zone_assumed;
    for (std::int64_t* latest :
         {&last_step_us_.try_emplace(assumed).first->second,
          &last_step_us_of_.try_emplace({step->source, assumed}).first->second})
      *latest = std::max(*latest, *step->time.wall_us);
  }
}

// If the steps are in another source, the line's own source must go on too, because the clocks of
// two hosts may disagree.
bool SourceAttempts::trained_on_after(const LineRef& line) const {
  if (!line.time.wall_us) return false;
  const std::int64_t by = *line.time.wall_us + kStopsWithinUs;
  const bool assumed = line.time.zone_assumed;
  if (const auto own = last_step_us_of_.find({line.source, assumed}); own != last_step_us_of_.end())
    return own->second > by;
  const auto all = last_step_us_.find(assumed);
  const auto& goes_on = view_.job.sources().at(line.source).last_wall_us;
  return all != last_step_us_.end() && all->second > by && goes_on && *goes_on > by;
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

// Restarted processes print into the same logs as those before them.
int SourceAttempts::attempt_by_lines(const LineRef& line) const {
  const auto known = beginnings_.find(line.source);
  if (known == beginnings_.end()) return 0;
  const auto after = std::ranges::upper_bound(known->second, line.line, {}, &Beginning::line);
  return after == known->second.begin() ? 0 : std::prev(after)->attempt;
}

// The files of a folder belong to one attempt, if all members in it do.
int SourceAttempts::attempt_by_files_beside(std::string_view path) const {
  for (std::string_view folder = folder_of(path); !folder.empty(); folder = folder_of(folder))
    if (const auto known = of_folder_.find(std::string(folder)); known != of_folder_.end())
      return known->second == kSeveral ? 0 : known->second;
  return 0;
}

bool SourceAttempts::in_attempt(const LineRef& line) const {
  if (trained_on_after(line)) return false;
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
