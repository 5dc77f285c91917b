#include "rules/picture/calls/flight_groups.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace faultline {
namespace {

const FlightCounters* counters_of(const FlightDump& dump, std::int64_t local_id) {
  const auto found = std::ranges::find(dump.nameless, local_id, &FlightCounters::local_id);
  return local_id < 0 || found == dump.nameless.end() ? nullptr : &*found;
}

}  // namespace

std::vector<FlightPlaces> places_in_groups(const Flight& flight,
                                           const std::multimap<int, std::size_t>& latest) {
  std::vector<FlightPlaces> groups(flight.groups().size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) groups[i].group = i;
  for (const auto& [rank, dump] : latest) {
    if (rank < 0) continue;
    for (const FlightPosition& position : flight.dumps()[dump].positions) {
      // Of groups without a name, only the first is known to be the same on all ranks.
      const FlightGroup& about = flight.groups()[position.group];
      if (about.name.empty() && about.local_id > 0) continue;
      FlightPlaces& group = groups[position.group];
      if (!group.places.empty() && group.places.back().rank == rank) continue;
      group.places.push_back({rank, dump, &position});
    }
  }
  for (FlightPlaces& group : groups) {
    bool same = true;
    for (const FlightPlace& place : group.places) {
      if (place.position->local_id >= 0) {
        same = same && (group.local_id < 0 || group.local_id == place.position->local_id);
        group.local_id = place.position->local_id;
      }
      for (const FlightEntry& entry : place.position->entries)
        group.point_to_point = group.point_to_point || entry.point_to_point;
    }
    if (!same) group.local_id = -1;
  }
  return groups;
}

std::map<int, std::size_t> dumps_with_entries(const Flight& flight,
                                              const std::multimap<int, std::size_t>& latest) {
  std::map<int, std::size_t> dump_of_rank;
  for (const auto& [rank, dump] : latest)
    if (rank >= 0 && flight.dumps()[dump].about.has_entries) dump_of_rank.emplace(rank, dump);
  return dump_of_rank;
}

WithoutEntry::WithoutEntry(const FlightDump& dump, const FlightPlace& place,
                           const FlightPlaces& group)
    : position_(*place.position),
      nameless_(counters_of(dump, group.local_id)),
      // They count Sends and Recvs too, so they say nothing about collectives there.
      counters_count_(!group.point_to_point) {
  for (const FlightEntry& entry : position_.entries)
    if (is_collective(entry)) last_ = std::max(last_.value_or(0), entry.sequence);
}

FlightStanding WithoutEntry::standing(std::uint32_t sequence) const {
  std::optional<std::int64_t> enqueued = position_.last_enqueued;
  std::optional<std::int64_t> completed = position_.last_completed;
  if (nameless_ != nullptr && !enqueued) {
    // The id may mean another group in this dump. It is the same group if the rank came as far as
    // the collective before, which its peers finished.
    if (nameless_->last_enqueued.value_or(-1) + 1 >= static_cast<std::int64_t>(sequence)) {
      enqueued = nameless_->last_enqueued;
      completed = nameless_->last_completed;
    }
  }
  if (!counters_count_) enqueued = completed = std::nullopt;

  // It made a later call, so it once entered this one.
  if (last_ && *last_ > sequence)
    return completed && *completed < static_cast<std::int64_t>(sequence) ? FlightStanding::unknown
                                                                         : FlightStanding::finished;
  if (enqueued)
    return *enqueued < static_cast<std::int64_t>(sequence) ? FlightStanding::not_entered
           : completed && *completed >= static_cast<std::int64_t>(sequence)
               ? FlightStanding::finished
               : FlightStanding::unknown;
  if (last_) return FlightStanding::not_entered;
  // The ring holds no collective of the group; it may have dropped them.
  return FlightStanding::unknown;
}

FlightStanding standing_without_position(const Flight& flight, int member,
                                         const std::map<int, std::size_t>& dump_of_rank) {
  const auto known = dump_of_rank.find(member);
  if (known == dump_of_rank.end()) return FlightStanding::no_dump;
  // A dump that names its groups, and not this one, shows that the rank never made a communicator
  // for it.
  const FlightDump& dump = flight.dumps()[known->second];
  return dump.names_groups && !dump.about.broken_off ? FlightStanding::not_entered
                                                     : FlightStanding::unknown;
}

std::uint32_t FlightComparable::operator()(std::uint32_t signature) {
  const auto [known, is_new] = known_.try_emplace(signature, 0);
  if (!is_new) return known->second;
  const FlightSignature& said = flight_.signature(signature);
  const auto is = [&](std::string_view word) {
    return said.operation.find(word) != std::string::npos;
  };
  // In these, sizes rightly differ by rank, or only one side gives sizes and dtypes.
  const bool split = is("all_to_all") || is("all_gather_v") || is("reduce_scatter_v");
  const bool to_or_from_one =
      (is(":scatter") || is(":gather") || is(":_broadcast") || is(":broadcast"));
  std::string text = said.operation;
  if (!split && !to_or_from_one)
    text += '\n' + said.input_sizes + '\n' + said.output_sizes + '\n' + said.input_dtypes + '\n' +
            said.output_dtypes;
  if (split) text += '\n' + said.input_dtypes + '\n' + said.output_dtypes;
  const auto fresh = static_cast<std::uint32_t>(texts_.size());
  known->second = texts_.try_emplace(std::move(text), fresh).first->second;
  return known->second;
}

}  // namespace faultline
