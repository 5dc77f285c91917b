#include "rules/detect/reported/behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/who/reported_identity.h"

namespace faultline {
namespace {

constexpr std::size_t kMostLines = 3;

using Count = std::uint64_t;

// Which ranks launched how many of an operation.
struct Standing {
  struct Place {
    int ranks = 0;
    std::vector<int> named;
    const LineRef* line = nullptr;
  };
  std::string operation;  // empty: all kinds together
  std::map<Count, Place> places;

  bool differs() const { return places.size() > 1; }
  Count gap() const { return places.rbegin()->first - places.begin()->first; }
  int ranks() const {
    int all = 0;
    for (const auto& [count, place] : places) all += place.ranks;
    return all;
  }
};

bool answered(const ReportedRank& rank) {
  const std::string& state = rank.process.state;
  return state != "dead" && state != "unresponsive" && state != "missing";
}

Count launched(const ReportedRank& rank, const std::string& operation) {
  const auto known = rank.counts.find(operation);
  return known == rank.counts.end() ? 0 : known->second.count;
}

Count launched_in_all(const ReportedRank& rank) {
  Count all = 0;
  for (const auto& [operation, count] : rank.counts) all += count.count;
  return all;
}

void place(Standing& standing, Count count, int rank, const LineRef* line) {
  Standing::Place& place = standing.places[count];
  place.named.push_back(rank);
  place.ranks = std::max(place.ranks, static_cast<int>(place.named.size()));
  if (place.line == nullptr) place.line = line;
}

std::set<std::string> operations_of(const ReportedCommunicator& communicator) {
  std::set<std::string> operations;
  for (const auto& crowd : communicator.crowds) operations.insert(crowd.operation);
  for (const auto& [number, rank] : communicator.ranks)
    for (const auto& [operation, count] : rank.counts) operations.insert(operation);
  return operations;
}

// A report that names every rank leaves out operations that a rank launched none of.
Standing standing_of(const ReportedCommunicator& communicator, const std::string& operation,
                     bool names_all) {
  Standing standing{.operation = operation, .places = {}};
  for (const auto& crowd : communicator.crowds) {
    if (crowd.operation != operation) continue;
    Standing::Place& at = standing.places[crowd.count];
    at.ranks = std::max(at.ranks, crowd.ranks);
    at.line = &crowd.line;
  }
  for (const auto& [number, rank] : communicator.ranks) {
    if (!answered(rank)) continue;
    const auto known = rank.counts.find(operation);
    if (known != rank.counts.end())
      place(standing, known->second.count, number, &known->second.line);
    else if (names_all)
      place(standing, 0, number, &rank.process.line);
  }
  return standing;
}

Standing standing_in_all(const ReportedCommunicator& communicator) {
  Standing standing;
  for (const auto& [number, rank] : communicator.ranks)
    if (answered(rank)) place(standing, launched_in_all(rank), number, &rank.process.line);
  return standing;
}

// The operation in which ranks differ most.
std::optional<Standing> widest(const ReportedCommunicator& communicator, bool names_all) {
  std::optional<Standing> widest;
  for (const std::string& operation : operations_of(communicator)) {
    Standing standing = standing_of(communicator, operation, names_all);
    if (standing.differs() && (!widest || standing.gap() > widest->gap()))
      widest = std::move(standing);
  }
  return widest;
}

enum class Motion { unknown, moved, still };

Motion motion_of(const View& view, const std::string& id, const std::string& operation,
                 const std::vector<int>& ranks, Count count) {
  const JobReport* before = view.job.reports().before();
  if (before == nullptr) return Motion::unknown;
  const auto known = before->communicators.find(id);
  if (known == before->communicators.end()) return Motion::unknown;
  const ReportedCommunicator& communicator = known->second;
  Motion motion = Motion::still;
  for (int number : ranks) {
    const auto rank = communicator.ranks.find(number);
    const bool counted = rank != communicator.ranks.end() &&
                         (before->names_all || rank->second.counts.contains(operation));
    if (!counted)
      motion = Motion::unknown;
    else if (launched(rank->second, operation) != count)
      return Motion::moved;
  }
  if (!ranks.empty()) return motion;
  return std::ranges::any_of(communicator.crowds,
                             [&](const auto& crowd) {
                               return crowd.operation == operation && crowd.count == count;
                             })
             ? Motion::still
             : Motion::unknown;
}

// A communicator whose ranks differ, and who is last in it.
struct Lag {
  std::string id;
  const ReportedCommunicator* communicator = nullptr;
  Standing standing;      // in one operation
  std::vector<int> last;  // named ranks with the fewest
  int last_ranks = 0;     // how many they are, named or not
  Motion motion = Motion::unknown;
  bool mixed = false;          // all launched as many, of different kinds
  std::set<std::string> late;  // keys of those who are last
  std::set<std::string> waiting;
};

std::optional<Lag> lag_of(const View& view, const JobReport& report, const std::string& id,
                          const ReportedCommunicator& communicator, int world) {
  auto standing = widest(communicator, report.names_all);
  if (!standing || told_by_calls(view, id)) return std::nullopt;
  Lag lag{.id = id, .communicator = &communicator, .standing = std::move(*standing)};
  std::set<int> last;
  if (report.names_all) {
    const Standing all = standing_in_all(communicator);
    lag.mixed = !all.differs();
    const auto& place =
        lag.mixed ? lag.standing.places.begin()->second : all.places.begin()->second;
    lag.last = place.named;
    lag.last_ranks = place.ranks;
  } else {
    const Standing::Place& place = lag.standing.places.begin()->second;
    lag.last = place.named;
    lag.last_ranks = place.ranks;
  }
  last.insert(lag.last.begin(), lag.last.end());
  const Count fewest =
      lag.last.empty() ? lag.standing.places.begin()->first
                       : launched(communicator.ranks.at(lag.last.front()), lag.standing.operation);
  lag.motion = motion_of(view, id, lag.standing.operation, lag.last, fewest);
  for (const auto& [number, rank] : communicator.ranks) {
    if (!answered(rank)) continue;
    const ReportedPerson person =
        person_of(view, id, number, communicator.nranks, rank.process, world);
    if (last.contains(number))
      lag.late.insert(person.key);
    else if (report.names_all || rank.counts.contains(lag.standing.operation))
      lag.waiting.insert(person.key);
  }
  return lag;
}

bool aborted(const ReportedCommunicator& communicator) {
  return communicator.status == "ABORT" ||
         std::ranges::any_of(communicator.ranks,
                             [](const auto& rank) { return rank.second.process.state == "abort"; });
}

// A rank whose place in the job is not known is named with its communicator.
std::string communicators_text(const std::vector<const Lag*>& lags,
                               const std::vector<ReportedPerson>& people) {
  const bool named = people.size() == 1 && people.front().rank < 0;
  std::string text = named ? std::string() : fmt::format(" of communicator {}", lags.front()->id);
  if (lags.size() > 1) text += fmt::format(" ({} communicators in all)", lags.size());
  return text;
}

std::string operation_name(const std::string& operation) {
  return operation == "collective" ? "collectives" : operation;
}

void add_lines(const View& view, const Lag& lag, const std::vector<int>& ranks, Finding& finding) {
  for (int number : ranks) {
    if (finding.evidence.size() >= kMostLines) break;
    const ReportedRank& rank = lag.communicator->ranks.at(number);
    if (rank.process.line.known()) finding.evidence.push_back(view.evidence(rank.process.line));
    const auto count = rank.counts.find(lag.standing.operation);
    if (count != rank.counts.end() && count->second.line.line != rank.process.line.line)
      finding.evidence.push_back(view.evidence(count->second.line));
  }
}

void add_line(const View& view, const Standing::Place& place, Finding& finding) {
  if (place.line != nullptr && place.line->known())
    finding.evidence.push_back(view.evidence(*place.line));
}

std::vector<ReportedPerson> people_of(const View& view, const Lag& lag,
                                      const std::vector<int>& ranks, int world) {
  std::vector<ReportedPerson> people;
  for (int number : ranks)
    people.push_back(person_of(view, lag.id, number, lag.communicator->nranks,
                               lag.communicator->ranks.at(number).process, world));
  return people;
}

Suspicion suspicion_of(const Lag& lag) {
  Suspicion suspicion;
  suspicion.stops_job = true;
  suspicion.verdict = Verdict::hang;
  suspicion.since = lag.communicator->line.time;
  suspicion.finding.severity = Severity::critical;
  return suspicion;
}

// Who is behind in several communicators is one finding.
Suspicion behind(const View& view, const std::vector<const Lag*>& lags, int world, bool circular) {
  const Lag& lag = *lags.front();
  const Standing& standing = lag.standing;
  const Count most = standing.places.rbegin()->first;
  const Count fewest =
      lag.last.empty() ? standing.places.begin()->first
                       : launched(lag.communicator->ranks.at(lag.last.front()), standing.operation);
  const auto people = people_of(view, lag, lag.last, world);

  Suspicion suspicion = suspicion_of(lag);
  Finding& finding = suspicion.finding;
  finding.cause = "collective.rank_behind";
  const bool named = !people.empty() && static_cast<int>(people.size()) == lag.last_ranks;
  finding.title = fmt::format(
      "{} launched {} {}{}, {} fewer than {} of its {} ranks{}",
      named ? names_of(people) : fmt::format("{} ranks that are not named", lag.last_ranks), fewest,
      operation_name(standing.operation), communicators_text(lags, people), most - fewest,
      standing.places.rbegin()->second.ranks,
      lag.communicator->nranks > 0 ? lag.communicator->nranks : standing.ranks(),
      lag.motion == Motion::still ? ", and stood still between two reports" : "");
  suspicion.sure =
      lag.motion == Motion::still ? Claim::report_stood_still : Claim::report_seen_once;
  if (!named) suspicion.sure.add(Ground::not_named);
  if (circular) suspicion.sure.add(Ground::waits_in_a_circle);
  if (aborted(*lag.communicator)) suspicion.sure.add(Ground::after_abort);
  if (named) finding.subject = subject_of(people);
  finding.subject.communicators.clear();
  for (const Lag* each : lags) finding.subject.communicators.push_back(each->id);
  add_lines(view, lag, lag.last, finding);
  if (lag.last.empty()) add_line(view, standing.places.begin()->second, finding);
  add_line(view, standing.places.rbegin()->second, finding);
  return suspicion;
}

// Most are behind, and stay there: the few who are ahead called something the others never will.
std::optional<Suspicion> ahead(const View& view, const Lag& lag, int world) {
  const Standing::Place& first = lag.standing.places.rbegin()->second;
  if (lag.motion != Motion::still || first.named.empty() ||
      static_cast<int>(first.named.size()) != first.ranks || lag.standing.places.size() != 2)
    return std::nullopt;
  const auto people = people_of(view, lag, first.named, world);
  Suspicion suspicion = suspicion_of(lag);
  Finding& finding = suspicion.finding;
  finding.cause = "software.collective_skipped";
  finding.title = fmt::format(
      "{} launched {} more {} of communicator {} than its {} peers, and "
      "nobody moved between two reports",
      names_of(people), lag.standing.gap(), operation_name(lag.standing.operation), lag.id,
      lag.last_ranks);
  suspicion.sure = Claim::report_ahead;
  finding.subject = subject_of(people);
  add_lines(view, lag, first.named, finding);
  add_line(view, lag.standing.places.begin()->second, finding);
  return suspicion;
}

std::optional<Suspicion> mixed(const View& view, const Lag& lag, int world) {
  // The fewer of those with the most and those with the least took another path.
  const auto& fewest = lag.standing.places.begin()->second;
  const auto& most = lag.standing.places.rbegin()->second;
  const auto& odd = fewest.ranks <= most.ranks ? fewest : most;
  if (lag.motion == Motion::moved || odd.ranks * 2 >= lag.standing.ranks()) return std::nullopt;
  const auto people = people_of(view, lag, odd.named, world);
  Suspicion suspicion = suspicion_of(lag);
  Finding& finding = suspicion.finding;
  finding.cause = "software.collective_mismatch";
  finding.title = fmt::format(
      "{} called as many collectives of communicator {} as its peers, but "
      "{} {} {}",
      names_of(people), lag.id, lag.standing.gap(), &odd == &fewest ? "fewer" : "more",
      operation_name(lag.standing.operation));
  suspicion.sure = Claim::report_mixed;
  finding.subject = subject_of(people);
  add_lines(view, lag, odd.named, finding);
  add_line(view, &odd == &fewest ? most : fewest, finding);
  return suspicion;
}

}  // namespace

std::vector<Suspicion> find_reported_behind(const View& view) {
  const JobReport* report = view.job.reports().latest();
  if (report == nullptr) return {};
  const int world = world_of(view);
  std::vector<Suspicion> found;
  std::vector<Lag> lags;
  for (const auto& [id, communicator] : report->communicators) {
    auto lag = lag_of(view, *report, id, communicator, world);
    if (!lag || lag->motion == Motion::moved) continue;
    if (lag->mixed) {
      if (auto suspicion = mixed(view, *lag, world)) found.push_back(std::move(*suspicion));
    } else if (lag->last_ranks * 2 > lag->standing.ranks()) {
      if (auto suspicion = ahead(view, *lag, world)) found.push_back(std::move(*suspicion));
    } else {
      lags.push_back(std::move(*lag));
    }
  }

  // Who is last in one communicator and waits in another is no origin, unless all are.
  std::set<std::string> waiting;
  for (const Lag& lag : lags) waiting.insert(lag.waiting.begin(), lag.waiting.end());
  auto waits = [&](const Lag& lag) {
    return !lag.late.empty() && std::ranges::includes(waiting, lag.late);
  };
  const bool circular = std::ranges::all_of(lags, waits);
  std::map<std::set<std::string>, std::vector<const Lag*>> by_culprits;
  std::vector<std::vector<const Lag*>> unnamed;
  for (const Lag& lag : lags) {
    if (waits(lag) && !circular) continue;
    if (lag.late.empty())
      unnamed.push_back({&lag});
    else
      by_culprits[lag.late].push_back(&lag);
  }
  const std::size_t before = found.size();
  for (auto& [culprits, theirs] : by_culprits) {
    std::ranges::stable_sort(theirs, std::greater(),
                             [](const Lag* lag) { return lag->communicator->nranks; });
    found.push_back(behind(view, theirs, world, circular));
  }
  for (const auto& theirs : unnamed) found.push_back(behind(view, theirs, world, circular));
  if (found.size() - before > 1)
    for (std::size_t i = before; i < found.size(); ++i)
      found[i].sure.add(Ground::late_here_and_there);
  return found;
}

}  // namespace faultline
