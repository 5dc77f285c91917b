#include "rules/picture/calls/told/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "rules/knowledge/ground_names.h"
#include "rules/knowledge/prose.h"

namespace faultline {
namespace {

HowFar how_far(FlightStanding standing) {
  switch (standing) {
    case FlightStanding::not_entered:
      return HowFar::not_entered;
    case FlightStanding::entered:
      return HowFar::entered;
    case FlightStanding::started:
      return HowFar::started;
    case FlightStanding::finished:
      return HowFar::finished;
    case FlightStanding::no_dump:
    case FlightStanding::unknown:
      break;
  }
  return HowFar::unknown;
}

// The first frame that is not the framework's own.
std::string place_in_program(std::string_view stack) {
  while (!stack.empty()) {
    const std::size_t end = stack.find('\n');
    const std::string_view frame = stack.substr(0, end);
    if (frame.find("/torch/") == std::string_view::npos && !frame.empty())
      return std::string(frame);
    if (end == std::string_view::npos) break;
    stack.remove_prefix(end + 1);
  }
  return {};
}

const LineRef* line_of_call(const Flight& flight, const FlightStall::Rank& rank,
                            std::uint32_t group) {
  if (rank.dump == SIZE_MAX) return nullptr;
  const FlightDump& dump = flight.dumps()[rank.dump];
  const FlightPosition* position = dump.position(group);
  return position == nullptr ? &dump.line : &position->line;
}

ProgressRow row_of(const Flight& flight, const FlightStall& stall, bool all_stand_there) {
  ProgressRow row;
  row.group = group_text(flight, stall.group);
  row.called_at = place_in_program(flight, stall);
  for (const FlightStall::Rank& rank : stall.ranks) {
    Came& came = row.members[rank.rank];
    came.how_far = how_far(rank.standing);
    if (const LineRef* line = line_of_call(flight, rank, stall.group)) came.lines = {line};
  }
  const std::string what =
      fmt::format("{}, #{} of process group {}", call_text(flight.signature(stall.signature)),
                  stall.sequence, row.group);
  const std::size_t missing = stall.with(FlightStanding::not_entered).size();
  const std::size_t inside = row.inside().size();
  if (missing > 0) row.behind = {"never entered " + what, Claim::recorder_never_entered};
  // A rank without a dump may have entered it too.
  if (missing > inside && missing + inside == row.members.size())
    row.ahead = {fmt::format("wait{} in {}, which none of the {} others called",
                             inside == 1 ? "s" : "", what, missing),
                 Claim::report_ahead};
  if (all_stand_there)
    row.all_entered = {
        fmt::format("All {} ranks entered {} and none finished it", stall.ranks.size(), what),
        Claim::recorder_all_entered, true};
  return row;
}

// A rank that waits in an operation with no other known participant.
ProgressRow row_of_waiter(int rank) {
  ProgressRow row;
  row.members[rank].how_far = HowFar::entered;
  return row;
}

}  // namespace

// nccl:all_reduce, and what it moves.
std::string call_text(const FlightSignature& signature) {
  std::string_view name = signature.operation;
  if (name.starts_with("nccl:")) name.remove_prefix(5);
  return fmt::format("{} {} {}", name, signature.input_sizes, signature.input_dtypes);
}

std::string group_text(const Flight& flight, std::uint32_t index) {
  const FlightGroup& group = flight.groups()[index];
  const std::string name = group.name.empty() ? fmt::format("#{}", group.local_id) : group.name;
  return group.description.empty() || group.description == name
             ? name
             : fmt::format("{} ({})", name, group.description);
}

std::string place_in_program(const Flight& flight, const FlightStall& stall) {
  for (const FlightStall::Rank& rank : stall.ranks) {
    if (rank.dump == SIZE_MAX) continue;
    const FlightPosition* position = flight.dumps()[rank.dump].position(stall.group);
    if (position == nullptr) continue;
    for (std::size_t i = 0; i < position->entries.size(); ++i) {
      if (position->entries[i].sequence != stall.sequence) continue;
      const FlightOperation* operation = position->operation(i);
      if (operation == nullptr) continue;
      if (std::string place = place_in_program(flight.stack(operation->stack)); !place.empty())
        return place;
    }
  }
  return {};
}

std::string place_in_program(const Flight& flight, const FlightFront& front) {
  const FlightPosition* position = flight.dumps()[front.dump].position(front.group);
  const FlightOperation* operation =
      position == nullptr ? nullptr : position->operation(front.entry);
  return operation == nullptr ? std::string() : place_in_program(flight.stack(operation->stack));
}

ProgressTable table_of_recorder(const Flight& flight, const FlightAlignment& alignment) {
  ProgressTable table;
  std::set<int> waiting;
  for (std::size_t i = 0; i < alignment.stalls.size(); ++i) {
    const FlightStall& stall = alignment.stalls[i];
    table.rows.push_back(row_of(flight, stall, alignment.standing == i));
    waiting.merge(table.rows.back().inside());
    if (!stall.with(FlightStanding::not_entered).empty()) continue;
    for (const FlightStall::Rank& rank : stall.ranks)
      if (rank.stuck_later) table.rows.push_back(row_of_waiter(rank.rank));
  }
  for (ProgressRow& row : table.rows)
    if (!row.behind.words.empty())
      row.behind.words += "; " + counted(waiting.size(), "rank waits", "ranks wait");
  for (const FlightPeerWait& wait : alignment.peer_waits) {
    ProgressRow& row = table.rows.emplace_back(row_of_waiter(wait.rank));
    if (!wait.peer_posted && wait.peer_has_dump)
      row.members[wait.peer].how_far = HowFar::not_entered;
  }
  // Ranks that wait in a group without a name, which cannot be told from other groups.
  for (const auto& [rank, front] : alignment.fronts) {
    const FlightGroup& group = flight.groups()[front.group];
    if (group.name.empty() && group.local_id > 0) table.rows.push_back(row_of_waiter(rank));
  }
  return table;
}

}  // namespace faultline
