#include "rules/detect/reported/inspected.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/who/reported_identity.h"

namespace faultline {
namespace {

// A separate thread writes the records from time to time, so healthy ranks may differ a little.
constexpr std::uint64_t kNormalSkew = 1;
constexpr auto kLate = std::chrono::seconds(10);
constexpr std::uint64_t kLateWithoutTimes = 64;

struct EndOfRank {
  int number = 0;
  const ReportedRank* rank = nullptr;
  std::uint64_t completed = 0;
  const LineRef* line = nullptr;
};

// Where each rank's records of the operation end, the earliest first.
std::vector<EndOfRank> ends_of(const InspectedCommunicator& communicator,
                               const std::string& operation) {
  std::vector<EndOfRank> ends;
  for (const auto& [number, rank] : communicator.ranks) {
    const auto count = rank.counts.find(operation);
    if (count == rank.counts.end()) continue;
    ends.push_back({number, &rank, count->second.count, &count->second.line});
  }
  std::ranges::stable_sort(ends, {}, &EndOfRank::completed);
  return ends;
}

// The operation with the most records.
std::string main_operation(const InspectedCommunicator& communicator) {
  std::map<std::string, std::uint64_t> most;
  for (const auto& [number, rank] : communicator.ranks)
    for (const auto& [operation, count] : rank.counts)
      most[operation] = std::max(most[operation], count.count);
  const auto main = std::ranges::max_element(most, {}, [](const auto& m) { return m.second; });
  return main == most.end() ? std::string() : main->first;
}

bool is_live(const View& view, const EndOfRank& end) {
  const SourceState& source = view.job.sources().at(end.line->source);
  return view.moment.live_sources.contains(source.source.name) ||
         (source.end == SourceEnd::open &&
          !view.moment.waiting_sources.contains(source.source.name));
}

bool ends_early(const EndOfRank& end, const EndOfRank& last) {
  if (last.completed - end.completed <= kNormalSkew) return false;
  const auto time = end.line->time.wall();
  const auto last_time = last.line->time.wall();
  if (time && last_time) return *last_time - *time > kLate;
  return last.completed - end.completed > kLateWithoutTimes;
}

std::optional<Suspicion> look_at(const View& view, const std::string& id,
                                 const InspectedCommunicator& communicator,
                                 const ReportedPeople& people) {
  const std::string operation = main_operation(communicator);
  const std::vector<EndOfRank> ends = ends_of(communicator, operation);
  if (ends.size() < 2 || people.told_by_calls(id)) return std::nullopt;
  if (std::ranges::any_of(ends, [&](const EndOfRank& end) { return is_live(view, end); }))
    return std::nullopt;
  std::vector<ReportedPerson> early;
  Suspicion suspicion;
  Finding& finding = suspicion.finding;
  for (const EndOfRank& end : ends) {
    if (!ends_early(end, ends.back())) continue;
    early.push_back(people.of(id, end.number, communicator.nranks, end.rank->process));
    if (finding.evidence.size() < kMostLines) finding.evidence.push_back(view.evidence(*end.line));
  }
  finding.evidence.push_back(view.evidence(*ends.back().line));
  suspicion.since = early.empty() ? ends.back().line->time : ends.front().line->time;
  if (!early.empty() && early.size() * 2 <= ends.size()) {
    finding.cause = Cause::process_silent;
    finding.title =
        fmt::format("The records of {} end at {} #{} of communicator {}; its peers completed #{}",
                    names_of(early), operation, ends.front().completed, id, ends.back().completed);
    finding.severity = Severity::warning;
    suspicion.sure = Claim::records_end_early;
    finding.subject = subject_of_people(early);
    return suspicion;
  }
  const bool all_seen = ends.size() == static_cast<std::size_t>(communicator.nranks);
  if (!all_seen || ends.back().completed - ends.front().completed > kNormalSkew)
    return std::nullopt;
  finding.cause = Cause::collective_stalled;
  finding.title = fmt::format(
      "All {} ranks of communicator {} completed {} #{}, and there is no record of a later one",
      ends.size(), id, operation, ends.front().completed);
  finding.severity = Severity::info;
  suspicion.sure = Claim::records_all_end;
  finding.subject.communicators = {id};
  suspicion.verdict = Verdict::healthy;  // the records of a finished job end so, too
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_inspected_ends(const View& view) {
  if (view.job.reports().inspected().empty()) return {};
  std::vector<Suspicion> found;
  const ReportedPeople people(view);
  for (const auto& [id, communicator] : view.job.reports().inspected())
    if (auto suspicion = look_at(view, id, communicator, people))
      found.push_back(std::move(*suspicion));
  return found;
}

}  // namespace faultline
