#include "rules/answer/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "rules/answer/position_writer.h"
#include "rules/answer/process_groups.h"
#include "rules/knowledge/prose.h"
#include "rules/picture/calls/called.h"
#include "rules/picture/calls/flight_alignment.h"
#include "rules/picture/view.h"

namespace faultline {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// What is read of a position besides who called what.
struct When {
  std::optional<Timestamp> first;
  std::optional<Timestamp> last;

  void add(Timestamp time) {
    if (!first || time < *first) first = time;
    if (!last || time > *last) last = time;
  }
};

// Clocks that the diagnosis knows to be wrong.
class Clocks {
 public:
  explicit Clocks(const Diagnosis& diagnosis) {
    for (const ClockOffset& offset : diagnosis.clock_offsets)
      ahead_[offset.host] =
          std::chrono::duration_cast<microseconds>(std::chrono::duration<double>(offset.seconds));
  }

  Timestamp corrected(const std::string& host, Timestamp time) const {
    const auto known = ahead_.find(host);
    return known == ahead_.end() ? time : time - known->second;
  }

 private:
  std::map<std::string, microseconds, std::less<>> ahead_;
};

// What of the known positions is asked for and fits the limit.
struct Shown {
  Positions positions;
  std::optional<std::uint64_t> next;  // where more of it begins
};

Shown shown_of(Positions known, OperationsAsked asked, std::size_t members) {
  // Each member may have called something else at each position.
  constexpr std::size_t kMostCalls = 2'000'000;
  asked.limit = std::min<std::size_t>(
      asked.limit, std::max<std::size_t>(kMostCalls / std::max<std::size_t>(members, 1), 1));
  if (known.size() == 0) return {.positions = {.from = known.from, .to = known.from}, .next = {}};
  const std::uint64_t end = std::min(known.to - 1, asked.to.value_or(UINT64_MAX)) + 1;
  const std::uint64_t latest = end - std::min<std::uint64_t>(end, asked.limit);
  Shown shown{.positions = {.from = std::max(known.from, asked.from.value_or(latest)), .to = end},
              .next = {}};
  if (shown.positions.size() > asked.limit)
    shown.next = shown.positions.to = shown.positions.from + asked.limit;
  return shown;
}

void tell_range(Positions known, const Shown& shown, OperationsView& told) {
  told.next = shown.next;
  if (known.size() == 0) return;
  told.first_known = known.from;
  told.last_known = known.to - 1;
}

std::string_view name_of_basis(const Alignment& alignment) {
  if (alignment.members.empty()) return "unknown";
  switch (alignment.basis) {
    case Basis::counted:
      return "counted";
    case Basis::op_count:
      return "op_count";
    case Basis::sequence:
      break;
  }
  return "sequence";
}

std::vector<std::string> doubts_of(const Alignment& alignment, const Communicator& communicator) {
  std::vector<std::string> doubts;
  if (alignment.members.empty()) {
    doubts.emplace_back(
        "The ranks cannot be compared, so no position is known: no log shows the first call, or "
        "nobody called anything.");
    return doubts;
  }
  if (alignment.basis == Basis::counted)
    doubts.push_back(
        fmt::format("All calls are known, but no more than the last {} of a rank can have a time.",
                    RecentCalls::kMost));
  else
    doubts.push_back(fmt::format(
        "Logs begin late or lack lines, so only the last {0} calls of each rank are known, and "
        "positions count from the first of these: they change as the job goes on.",
        RecentCalls::kMost));
  if (alignment.basis == Basis::sequence)
    doubts.emplace_back(
        "Positions follow from the order of different calls. Ranks that only repeat one call are "
        "taken to be in step.");
  if (const std::size_t others = communicator.members.size() - alignment.members.size(); others > 0)
    doubts.push_back(
        counted(others, "rank cannot be compared with the others: where it stands is not known.",
                "ranks cannot be compared with the others: where they stand is not known."));
  return doubts;
}

class Operations {
 public:
  Operations(const JobState& job, const Diagnosis& diagnosis, const OperationsAsked& asked)
      : job_(job), diagnosis_(diagnosis), asked_(asked), clocks_(diagnosis) {}

  std::optional<OperationsView> of(std::string_view id) const {
    const Catalog catalog;  // calls are aligned without it
    const Moment moment{};
    const View view(job_, catalog, moment, diagnosis_.attempt);
    std::optional<OperationsView> told;
    const auto known = std::ranges::find(view.communicators, id, &Communicator::id);
    if (known != view.communicators.end())
      told = of_communicator(view, static_cast<std::size_t>(known - view.communicators.begin()));
    else
      for (const NamedGroup& group : named_groups(job_.flight()))
        if (group.id == id) told = of_group(group);
    if (!told) return std::nullopt;
    told->communicator = id;
    told->attempt = diagnosis_.attempt;
    told->as_of = job_.last_told();
    return told;
  }

 private:
  OperationsView of_communicator(const View& view, std::size_t which) const {
    const Communicator& communicator = view.communicators[which];
    const Alignment& alignment = view.alignments[which];
    const Progress& progress = job_.progress();
    OperationsView told{.nranks = communicator.nranks,
                        .members_seen = static_cast<int>(communicator.members.size()),
                        .basis = std::string(name_of_basis(alignment)),
                        .doubts = doubts_of(alignment, communicator)};
    // Those of an alignment count from 0.
    const Positions known{.from = 1, .to = alignment.furthest + 1};
    const Shown page = shown_of(known, asked_, static_cast<std::size_t>(told.members_seen));
    const Positions& shown = page.positions;
    tell_range(known, page, told);
    if (alignment.divergence) told.diverged_at = alignment.divergence->position + 1;
    const Positions aligned{.from = shown.from - 1, .to = shown.from - 1 + shown.size()};
    const Callers callers = callers_of(progress, communicator, alignment, aligned);
    PositionWriter writer(
        callers, [&](std::size_t member) { return view.worker_of(member).rank; },
        [&](std::uint32_t symbol) { return operation_of(progress.signature(symbol)); });
    const std::map<std::uint64_t, When> when = times_of(view, alignment, aligned);
    write(writer, shown, told, [&](PositionView& position) {
      position.label = alignment.label(position.position - 1);
      const auto dated = when.find(position.position - 1);
      if (dated == when.end()) return;
      position.first = dated->second.first;
      position.last = dated->second.last;
    });
    return told;
  }

  std::map<std::uint64_t, When> times_of(const View& view, const Alignment& alignment,
                                         Positions positions) const {
    std::map<std::uint64_t, When> times;
    if (positions.size() == 0) return times;
    for (std::size_t which = 0; which < alignment.members.size(); ++which) {
      const std::size_t index = alignment.members[which];
      const Member& member = view.member(index);
      const std::string& host = view.worker_of(index).host;
      for (const PlacedCall& placed : recent_calls_of(job_.progress(), alignment, which)) {
        if (!positions.has(placed.position)) continue;
        if (const auto time = time_of(member, placed.call))
          times[placed.position].add(clocks_.corrected(host, *time));
      }
    }
    return times;
  }

  // The stamp of the last line is kept even if it is coarse.
  std::optional<Timestamp> time_of(const Member& member, const RecentCall& call) const {
    if (call.at_ms != RecentCall::kUndated)
      return Timestamp(std::chrono::seconds(member.dated_from_s)) + milliseconds(call.at_ms);
    const bool is_last = call.line == member.recent.back().line;
    return is_last && member.last_line.line == call.line ? job_.dated(member.last_line).wall()
                                                         : std::nullopt;
  }

  OperationsView of_group(const NamedGroup& named) const {
    const Flight& flight = job_.flight();
    const FlightPlaces& group = named.places;
    OperationsView told{
        .nranks = static_cast<int>(flight.groups()[group.group].members.size()),
        .members_seen = static_cast<int>(group.places.size()),
        .basis = "recorded",
        .doubts = {"Flight Recorder dumps hold the last calls of each rank. What came before them "
                   "is not known."}};
    const Positions known = recorded_positions(group);
    const Shown page = shown_of(known, asked_, static_cast<std::size_t>(told.members_seen));
    const Positions& shown = page.positions;
    tell_range(known, page, told);
    for (const FlightMismatch& mismatch : align_flight(flight).mismatches)
      if (mismatch.group == group.group) told.diverged_at = mismatch.sequence;
    const Callers callers =
        callers_of(flight, group, dumps_with_entries(flight, flight.latest()), shown);
    PositionWriter writer(
        callers, [](std::size_t rank) { return static_cast<int>(rank); },
        [&](std::uint32_t signature) { return operation_of(flight.signature(signature)); });
    std::map<std::uint64_t, When> when;
    for (const FlightPlace& place : group.places)
      for (const FlightEntry& entry : place.position->entries)
        if (is_collective(entry) && shown.has(entry.sequence) && is_a_time(entry.created_us))
          when[entry.sequence].add(clocks_.corrected(flight.dumps()[place.dump].host,
                                                     Timestamp(microseconds(entry.created_us))));
    write(writer, shown, told, [&](PositionView& position) {
      position.label = fmt::format("#{}", position.position);
      position.first = when[position.position].first;
      position.last = when[position.position].last;
    });
    return told;
  }

  static bool is_a_time(std::int64_t us) {
    constexpr std::int64_t kYear10000Us = 253'402'300'800'000'000;
    return us > 0 && us < kYear10000Us;
  }

  template <class Complete>
  static void write(PositionWriter& writer, Positions shown, OperationsView& told,
                    const Complete& complete) {
    for (std::size_t place = 0; place < shown.size(); ++place) {
      std::optional<PositionView> position = writer.at(place);
      if (!position) continue;
      position->position = shown.from + place;
      complete(*position);
      told.operations.push_back(*std::move(position));
    }
  }

  const JobState& job_;
  const Diagnosis& diagnosis_;
  const OperationsAsked& asked_;
  Clocks clocks_;
};

}  // namespace

std::optional<OperationsView> operations_of(const JobState& job, const Diagnosis& diagnosis,
                                            std::string_view id, const OperationsAsked& asked) {
  return Operations(job, diagnosis, asked).of(id);
}

}  // namespace faultline
