// Communicators that lack members: which of them others complete, and in which there is room.
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

// Communicators by the ranks that they have. They are looked up by those that they lack.
class Incomplete {
 public:
  explicit Incomplete(const Members& members) : members_(members) {}

  void add(std::size_t communicator, const std::vector<std::size_t>& has);
  // The first added that lacks the ranks of these members and no others. It is forgotten.
  std::optional<std::size_t> take(const std::vector<std::size_t>& lacking);

 private:
  struct Kind {
    int nranks = 0;
    bool split = false;  // all ranks make it by the same call
    std::size_t count = 0;
    auto operator<=>(const Kind&) const = default;
  };

  Kind kind_of(const std::vector<std::size_t>& members) const;
  // Stands for the ranks: that of all is the sum of those of their parts.
  std::uint64_t fingerprint(const std::vector<std::size_t>& members) const;
  std::uint64_t fingerprint_of_all(std::size_t nranks);

  const Members& members_;
  std::map<Kind, std::multimap<std::uint64_t, std::size_t>> known_;
  std::vector<std::uint64_t> of_all_ = {0};  // by how many ranks there are
};

// Places in the communicators of one size for members whose Init lines were not seen.
class FreeSeats {
 public:
  // of_size: which of all have this size.
  FreeSeats(const Members& members, std::vector<Communicator>& all,
            const std::vector<std::size_t>& of_size);

  // Adds a member to the communicator that it must belong to, if only one has room for it and is
  // laid out over hosts and devices as its likes are.
  void seat(std::size_t index);

 private:
  // What all members of a communicator have in common: the host, the device or neither.
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
