#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "rules/knowledge/ground_names.h"
#include "rules/picture/calls/told/adapters.h"
#include "rules/picture/who/reported_identity.h"

// RAS counts the operations that ranks launched, not those that ended, and asks ranks one after the
// other. In a running job the ranks differ by a few, and a minute later it is other ranks that are
// last. So one report is a hint; two reports between which the last ranks did not move are a hang;
// if they moved, there is no finding.
namespace faultline {
namespace {

using Count = std::uint64_t;

// The ranks that launched the same number.
struct PlaceOfCrowd {
  int ranks = 0;
  std::vector<int> named;
  const LineRef* line = nullptr;

  void add(int rank, const LineRef* its_line) {
    named.push_back(rank);
    ranks = std::max(ranks, static_cast<int>(named.size()));
    if (line == nullptr) line = its_line;
  }
};

struct Standing {
  std::string operation;  // empty: all operations together
  std::map<Count, PlaceOfCrowd> places;

  const PlaceOfCrowd& last() const { return places.begin()->second; }
  const PlaceOfCrowd& first() const { return places.rbegin()->second; }
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

// A report that names every rank leaves out the operations that a rank never launched.
Standing standing_of(const ReportedCommunicator& communicator, const std::string& operation,
                     bool names_all) {
  Standing standing{.operation = operation, .places = {}};
  for (const auto& crowd : communicator.crowds) {
    if (crowd.operation != operation) continue;
    PlaceOfCrowd& at = standing.places[crowd.count];
    at.ranks = std::max(at.ranks, crowd.ranks);
    at.line = &crowd.line;
  }
  for (const auto& [number, rank] : communicator.ranks) {
    if (!answered(rank)) continue;
    const auto known = rank.counts.find(operation);
    if (known != rank.counts.end())
      standing.places[known->second.count].add(number, &known->second.line);
    else if (names_all)
      standing.places[0].add(number, &rank.process.line);
  }
  return standing;
}

Standing standing_in_all(const ReportedCommunicator& communicator) {
  Standing standing;
  for (const auto& [number, rank] : communicator.ranks) {
    Count all = 0;
    for (const auto& [operation, count] : rank.counts) all += count.count;
    if (answered(rank)) standing.places[all].add(number, &rank.process.line);
  }
  return standing;
}

// The operation in which ranks differ most.
std::optional<Standing> widest(const ReportedCommunicator& communicator, bool names_all) {
  std::set<std::string> operations;
  for (const auto& crowd : communicator.crowds) operations.insert(crowd.operation);
  for (const auto& [number, rank] : communicator.ranks)
    for (const auto& [operation, count] : rank.counts) operations.insert(operation);
  std::optional<Standing> widest;
  for (const std::string& operation : operations) {
    Standing standing = standing_of(communicator, operation, names_all);
    if (standing.places.size() > 1 && (!widest || standing.gap() > widest->gap()))
      widest = std::move(standing);
  }
  return widest;
}

enum class Motion : std::uint8_t { unknown, moved, still };

Motion motion_of(const JobReport* before, const std::string& id, const std::string& operation,
                 const std::vector<int>& ranks, Count count) {
  if (before == nullptr) return Motion::unknown;
  const auto known = before->communicators.find(id);
  if (known == before->communicators.end()) return Motion::unknown;
  const ReportedCommunicator& communicator = known->second;
  Motion motion = Motion::still;
  for (const int number : ranks) {
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

bool aborted(const ReportedCommunicator& communicator) {
  return communicator.status == "ABORT" ||
         std::ranges::any_of(communicator.ranks,
                             [](const auto& rank) { return rank.second.process.state == "abort"; });
}

// The processes of all communicators, by number.
class People {
 public:
  explicit People(const View& view) : known_(view) {}

  int number_of(const std::string& id, int rank, int nranks, const ReportedProcess& process) {
    ReportedPerson person = known_.of(id, rank, nranks, process);
    const auto [known, is_new] = number_.try_emplace(person.key, static_cast<int>(people_.size()));
    const auto at = static_cast<std::size_t>(known->second);
    if (is_new) {
      people_.push_back(std::move(person));
      nranks_.push_back(nranks);
    } else if (nranks > nranks_[at]) {  // the largest communicator identifies it best
      people_[at] = std::move(person);
      nranks_[at] = nranks;
    }
    return known->second;
  }

  bool are_told_by_calls(const std::string& communicator) const {
    return known_.told_by_calls(communicator);
  }

  std::vector<ReportedPerson> of(const std::set<int>& members) const {
    std::vector<ReportedPerson> those;
    for (const int member : members) those.push_back(people_[static_cast<std::size_t>(member)]);
    return those;
  }

 private:
  ReportedPeople known_;
  std::map<std::string, int> number_;  // by key of the person
  std::vector<ReportedPerson> people_;
  std::vector<int> nranks_;  // size of the communicator that named them
};

class Rows {
 public:
  Rows(const View& view, const JobReport& report, People& people)
      : view_(view), report_(report), people_(people) {}

  // Set if the ranks of a communicator differ, and the last ones are not known to have moved.
  std::optional<ProgressRow> row_of(const std::string& id,
                                    const ReportedCommunicator& communicator) {
    const auto standing = widest(communicator, report_.names_all);
    if (!standing || people_.are_told_by_calls(id)) return std::nullopt;
    const Standing all = report_.names_all ? standing_in_all(communicator) : Standing{};
    const bool mixed = all.places.size() == 1;  // the same number of calls, of different kinds
    const PlaceOfCrowd& last = report_.names_all && !mixed ? all.last() : standing->last();
    const Count fewest = last.named.empty() ? standing->places.begin()->first
                                            : launched(communicator.ranks.at(last.named.front()),
                                                       standing->operation);
    const Motion motion =
        motion_of(view_.job.reports().before(), id, standing->operation, last.named, fewest);
    if (motion == Motion::moved) return std::nullopt;

    ProgressRow row;
    row.communicator = id;
    row.since = communicator.line.time;
    row.line = standing->first().line;
    add_members(id, communicator, *standing, last, row);
    const std::string name =
        standing->operation == "collective" ? "collectives" : standing->operation;
    if (mixed)
      tell_mixed(communicator, *standing, name, row);
    else if (last.ranks * 2 > standing->ranks())
      tell_ahead(*standing, last, motion, name, row);
    else
      tell_behind(communicator, *standing, last, fewest, motion, name, row);
    const bool tells = !row.behind.words.empty() || !row.ahead.words.empty() || !row.odd.empty();
    return tells ? std::optional(std::move(row)) : std::nullopt;
  }

 private:
  int number_of(const std::string& id, const ReportedCommunicator& communicator, int rank) {
    return people_.number_of(id, rank, communicator.nranks, communicator.ranks.at(rank).process);
  }

  std::set<int> members_of(const ProgressRow& row, const ReportedCommunicator& communicator,
                           const PlaceOfCrowd& place) {
    std::set<int> members;
    for (const int rank : place.named)
      members.insert(number_of(row.communicator, communicator, rank));
    return members;
  }

  void add_members(const std::string& id, const ReportedCommunicator& communicator,
                   const Standing& standing, const PlaceOfCrowd& last, ProgressRow& row) {
    const std::set<int> late(last.named.begin(), last.named.end());
    // If only some of the late ranks are named, they would look like all of them.
    const bool named = static_cast<int>(late.size()) == last.ranks;
    if (!named) row.unnamed = static_cast<std::size_t>(last.ranks);
    for (const auto& [number, rank] : communicator.ranks) {
      const auto count = rank.counts.find(standing.operation);
      if (!answered(rank) || (count == rank.counts.end() && !report_.names_all)) continue;
      if (late.contains(number) && !named) continue;
      Came& came = row.members[number_of(id, communicator, number)];
      came.how_far = late.contains(number) ? HowFar::not_entered : HowFar::entered;
      came.lines = {&rank.process.line};
      if (count != rank.counts.end() && count->second.line.line != rank.process.line.line)
        came.lines.push_back(&count->second.line);
    }
  }

  // Empty for a rank whose rank in the job is not known: its name contains the communicator.
  std::string communicator_text(const ProgressRow& row) const {
    const auto late = people_.of(row.with(HowFar::not_entered));
    return late.size() == 1 && late.front().rank < 0
               ? std::string()
               : fmt::format(" of communicator {}", row.communicator);
  }

  void tell_behind(const ReportedCommunicator& communicator, const Standing& standing,
                   const PlaceOfCrowd& last, Count fewest, Motion motion, const std::string& name,
                   ProgressRow& row) {
    const bool still = motion == Motion::still;
    row.behind.words = fmt::format("launched {} {}{}, {} fewer than {} of its {} ranks{}", fewest,
                                   name, communicator_text(row),
                                   standing.places.rbegin()->first - fewest, standing.first().ranks,
                                   communicator.nranks > 0 ? communicator.nranks : standing.ranks(),
                                   still ? ", and stood still between two reports" : "");
    row.behind.sure = still ? Claim::report_stood_still : Claim::report_seen_once;
    if (aborted(communicator)) row.behind.sure.add(Ground::after_abort);
    if (last.named.empty()) row.line = standing.last().line;
  }

  // Most ranks are behind and stay there: the few ahead called something that the others never
  // will.
  static void tell_ahead(const Standing& standing, const PlaceOfCrowd& last, Motion motion,
                         const std::string& name, ProgressRow& row) {
    const PlaceOfCrowd& first = standing.first();
    if (motion != Motion::still || first.named.empty() ||
        static_cast<int>(first.named.size()) != first.ranks || standing.places.size() != 2)
      return;
    row.ahead = {fmt::format("launched {} more {} of communicator {} than its {} peers, and nobody "
                             "moved between two reports",
                             standing.gap(), name, row.communicator, last.ranks),
                 Claim::report_ahead};
    row.line = standing.last().line;
  }

  // Of the ranks with the most and the ranks with the fewest, the smaller group took another path.
  void tell_mixed(const ReportedCommunicator& communicator, const Standing& standing,
                  const std::string& name, ProgressRow& row) {
    const bool fewer = standing.last().ranks <= standing.first().ranks;
    const PlaceOfCrowd& odd = fewer ? standing.last() : standing.first();
    if (odd.ranks * 2 >= standing.ranks()) return;
    row.odd = members_of(row, communicator, odd);
    row.line = (fewer ? standing.first() : standing.last()).line;
    row.differs = {fmt::format("called as many collectives of communicator {} as its peers, but {} "
                               "{} {}",
                               row.communicator, standing.gap(), fewer ? "fewer" : "more", name),
                   Claim::report_mixed};
  }

  const View& view_;
  const JobReport& report_;
  People& people_;
};

}  // namespace

ProgressTable table_of_ras(const View& view, const TorchCrew& /*crew*/) {
  ProgressTable table;
  const JobReport* report = view.job.reports().latest();
  if (report == nullptr) return table;
  const auto people = std::make_shared<People>(view);
  Rows rows(view, *report, *people);
  for (const auto& [id, communicator] : report->communicators)
    if (auto row = rows.row_of(id, communicator)) table.rows.push_back(*std::move(row));
  std::ranges::stable_sort(table.rows, std::greater(),
                           [](const ProgressRow& row) { return row.members.size() + row.unnamed; });
  table.names_circles = true;
  table.names = [people](const std::set<int>& who) { return names_of(people->of(who)); };
  table.subject = [people](const std::set<int>& who) { return subject_of_people(people->of(who)); };
  return table;
}

}  // namespace faultline
