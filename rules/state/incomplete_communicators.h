// Communicators that lack members: which other members complete them, and which have room.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/state/communicators.h"

namespace faultline {

// Communicators by the ranks that they have, looked up by the ranks that they lack.
class Incomplete {
 public:
  explicit Incomplete(const Members& members) : members_(members) {}

  void add(std::size_t communicator, const std::vector<std::size_t>& has);
  // Returns and forgets the communicator that was added first and lacks exactly the ranks of these
  // members.
  std::optional<std::size_t> take(const std::vector<std::size_t>& lacking);

 private:
  struct Kind {
    int nranks = 0;
    bool split = false;  // all ranks create it by the same call
    std::size_t count = 0;
    auto operator<=>(const Kind&) const = default;
  };

  Kind kind_of(const std::vector<std::size_t>& members) const;
  // Stands for the set of ranks: the fingerprint of a set is the sum of those of its parts.
  std::uint64_t fingerprint(const std::vector<std::size_t>& members) const;
  std::uint64_t fingerprint_of_all(std::size_t nranks);

  const Members& members_;
  std::map<Kind, std::multimap<std::uint64_t, std::size_t>> known_;
  std::vector<std::uint64_t> of_all_ = {0};  // by the number of ranks
};

// Places in the communicators of one size for members whose Init lines were not seen.
class FreeSeats {
 public:
  // of_size: indices into `all` of the communicators of this size.
  FreeSeats(const Members& members, std::vector<Communicator>& all,
            const std::vector<std::size_t>& of_size);

  // Adds a member to the communicator to which it must belong: the only one with room for it that
  // is spread over hosts and devices in the same way as the others.
  void seat(std::size_t index);

 private:
  // What the members of each communicator share: the host, the device, or neither.
  using Place = std::pair<std::string, int>;

  Place place_of(const Member& member) const;
  void open(std::size_t which);
  void close(std::size_t which, const Place& place);
  bool has_room(std::size_t which) const;

  const Members& members_;
  std::vector<Communicator>& all_;
  bool within_hosts_ = true;
  bool across_hosts_on_one_device_ = true;
  std::map<Place, std::set<std::size_t>> with_room_;
  std::map<std::pair<Place, ProcessKey>, std::set<std::size_t>> with_room_and_process_;
};

}  // namespace faultline
