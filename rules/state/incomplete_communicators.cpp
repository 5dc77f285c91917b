#include "rules/state/incomplete_communicators.h"

#include <algorithm>

namespace faultline {
namespace {

// splitmix64: different sets of ranks with the same sum get different sums.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

Incomplete::Kind Incomplete::kind_of(const std::vector<std::size_t>& members) const {
  const Member& first = members_[members.front()];
  return {first.nranks, first.init && first.init->parent, members.size()};
}

std::uint64_t Incomplete::fingerprint(const std::vector<std::size_t>& members) const {
  std::uint64_t sum = 0;
  for (const std::size_t index : members)
    if (const auto& init = members_[index].init)
      sum += mixed(static_cast<std::uint64_t>(init->rank));
  return sum;
}

std::uint64_t Incomplete::fingerprint_of_all(std::size_t nranks) {
  while (of_all_.size() <= nranks) of_all_.push_back(of_all_.back() + mixed(of_all_.size() - 1));
  return of_all_[nranks];
}

void Incomplete::add(std::size_t communicator, const std::vector<std::size_t>& has) {
  known_[kind_of(has)].emplace(fingerprint(has), communicator);
}

std::optional<std::size_t> Incomplete::take(const std::vector<std::size_t>& lacking) {
  Kind kind = kind_of(lacking);
  const auto nranks = static_cast<std::size_t>(kind.nranks);
  if (lacking.size() >= nranks) return std::nullopt;
  kind.count = nranks - lacking.size();
  const auto alike = known_.find(kind);
  if (alike == known_.end()) return std::nullopt;
  const std::uint64_t wanted = fingerprint_of_all(nranks) - fingerprint(lacking);
  const auto found = alike->second.lower_bound(wanted);
  if (found == alike->second.end() || found->first != wanted) return std::nullopt;
  const std::size_t communicator = found->second;
  alike->second.erase(found);
  return communicator;
}

FreeSeats::FreeSeats(const Members& members, std::vector<Communicator>& all,
                     const std::vector<std::size_t>& of_size)
    : members_(members), all_(all) {
  for (const std::size_t which : of_size) {
    const std::vector<std::size_t>& its = all_[which].members;
    const Member& first = members_[its.front()];
    for (const std::size_t index : its) {
      within_hosts_ &= members_[index].host == first.host;
      across_hosts_on_one_device_ &= members_[index].device == first.device;
    }
  }
  for (const std::size_t which : of_size)
    if (has_room(which)) open(which);
}

void FreeSeats::seat(std::size_t index) {
  const Place place = place_of(members_[index]);
  const std::set<std::size_t>& possible = with_room_[place];
  std::set<std::size_t>& taken = with_room_and_process_[{place, members_[index].process}];
  if (possible.size() != taken.size() + 1) return;
  const std::size_t home = *std::ranges::mismatch(possible, taken).in1;
  all_[home].members.push_back(index);
  taken.insert(home);
  if (!has_room(home)) close(home, place);
}

FreeSeats::Place FreeSeats::place_of(const Member& member) const {
  if (within_hosts_) return {member.host, 0};
  return {{}, across_hosts_on_one_device_ ? member.device : 0};
}

void FreeSeats::open(std::size_t which) {
  const std::vector<std::size_t>& its = all_[which].members;
  const Place place = place_of(members_[its.front()]);
  with_room_[place].insert(which);
  for (const std::size_t index : its)
    with_room_and_process_[{place, members_[index].process}].insert(which);
}

void FreeSeats::close(std::size_t which, const Place& place) {
  with_room_[place].erase(which);
  for (const std::size_t index : all_[which].members)
    with_room_and_process_[{place, members_[index].process}].erase(which);
}

bool FreeSeats::has_room(std::size_t which) const {
  const Communicator& communicator = all_[which];
  return communicator.members.size() < static_cast<std::size_t>(communicator.nranks);
}

}  // namespace faultline
