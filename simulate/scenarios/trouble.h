// Faults that hosts report, and the twins of such jobs, in which hosts report something else.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "simulate/injection.h"

namespace faultline::simulation {

using std::chrono::microseconds;

// Where and when something happens, to the job or beside it.
struct Victim {
  std::string host;
  int index = 0;         // of the host; cluster.hosts(): a host beside the cluster
  int local = 0;         // among the GPUs and NICs of the host
  std::int64_t pid = 0;  // of the process there
  Timestamp when;

  std::string gpu(const Cluster& cluster) const { return cluster.pci_address(local); }
  // The GPU's address as the driver prints it: 0000:3b:00
  std::string gpu_slot(const Cluster& cluster) const;
};

struct Trouble {
  void (*happens)(Injection& it, const Victim& victim) = nullptr;
  // Something that looks like it and means nothing; nullptr: there is no benign twin.
  void (*is_harmless)(Injection& it, const Victim& victim) = nullptr;
  // It strikes a whole host: so a bystander is another host, not another part of this one.
  bool whole_host = false;
};

// The kind of the twin; for `usual`, the first kind that its scenario has.
Twin kind_of_twin(const Injection& it);

// The rank's host, GPU and process, at the time when it would reach this place.
Victim victim_of(const Injection& it, int rank, Place place);

// Boots the hosts. In a twin, also lets happen what its kind asks for, and returns true: then
// nothing is left to do.
bool is_twin(Injection& it, const Trouble& trouble, const Victim& victim);

// Stops a rank somewhere in the run, because of a trouble of its host. nullopt: this is a twin.
struct Stopped {
  int rank = 0;
  Place place;
  Victim victim;
};
std::optional<Stopped> stop_by(Injection& it, const Trouble& trouble);

}  // namespace faultline::simulation
