// Faults that hosts tell of, and the twins in which the same is told of something else.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "simulate/injection.h"

namespace faultline::simulation {

using std::chrono::microseconds;

// Where and when something happens, in the job or beside it.
struct Victim {
  std::string host;
  int index = 0;         // of the host in the cluster; -1: it is none of them
  int local = 0;         // among the GPUs and NICs of the host
  std::int64_t pid = 0;  // of the process there
  Timestamp when;

  std::string gpu(const Cluster& cluster) const { return cluster.pci_address(local); }
  // As the driver names it: 0000:3b:00
  std::string gpu_slot(const Cluster& cluster) const;
};

struct Trouble {
  void (*happens)(Injection& it, const Victim& victim) = nullptr;
  // What looks like it and means nothing. Without it there is no such twin.
  void (*is_harmless)(Injection& it, const Victim& victim) = nullptr;
  // It strikes a whole host: a bystander is another host, not another part of this one.
  bool whole_host = false;
};

// Of what kind a twin is; the usual one is the first that its scenario has.
Twin kind_of_twin(const Injection& it);

// The rank's part, when it would come to this place.
Victim victim_of(const Injection& it, int rank, Place place);

// Hosts say what they always say. In a twin, what its kind asks for happens besides: true, and
// there is nothing left to do.
bool is_twin(Injection& it, const Trouble& trouble, const Victim& victim);

// Stops a rank somewhere in the run, because of a trouble of its host; false: this is a twin.
struct Stopped {
  int rank = 0;
  Place place;
  Victim victim;
};
std::optional<Stopped> stop_by(Injection& it, const Trouble& trouble);

}  // namespace faultline::simulation
