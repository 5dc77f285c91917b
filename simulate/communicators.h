// The communicators of a job, as frameworks make them: the world, tensor-parallel groups inside a
// node, pipeline groups, data-parallel groups.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/cluster.h"
#include "simulate/version.h"

namespace faultline::simulation {

enum class Group { world, tensor, pipeline, data };

struct Communicator {
  Group group = Group::world;
  std::vector<int> members;  // world ranks, by their rank here
  std::uint64_t salt = 0;    // what its id is made of
  int color = -1;            // of ncclCommSplit; -1: not made by a split
  int nodes = 1;

  int size() const { return static_cast<int>(members.size()); }
};

// A rank's membership of one communicator.
struct Seat {
  int communicator = 0;
  int rank = 0;
};

class Communicators {
 public:
  Communicators(const Cluster& cluster, const NcclVersion& version);

  const Communicator& at(int communicator) const {
    return all_[static_cast<std::size_t>(communicator)];
  }
  int count() const { return static_cast<int>(all_.size()); }

  // Every rank has the same number of seats, with the same groups in the same order. Calls name a
  // seat by its slot, the index here.
  const std::vector<Seat>& seats(int rank) const { return seats_[static_cast<std::size_t>(rank)]; }
  int slots() const { return static_cast<int>(seats_.front().size()); }
  Group group_of(int slot) const {
    return at(seats_.front()[static_cast<std::size_t>(slot)].communicator).group;
  }

  // The first slot of a group; nullopt: the group would have one member.
  std::optional<int> slot_of(Group group) const;
  // Slots beyond the first of each group.
  std::vector<int> further_slots() const;

  int stage_of(int rank) const;  // of the pipeline
  int stages() const { return stages_; }

  // The id that NCCL prints; 0: this version prints none for this communicator.
  std::uint64_t id(int communicator, int attempt) const;

 private:
  void add(Group group, const std::vector<std::vector<int>>& groups, bool split);

  std::vector<Communicator> all_;
  std::vector<std::vector<Seat>> seats_;
  const Cluster* cluster_;
  NcclVersion version_;
  int stages_ = 1;
};

}  // namespace faultline::simulation
