// The owner of a part: whether the job runs on its host, and which ranks use it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rules/knowledge/sureness.h"
#include "rules/picture/view.h"
#include "rules/state/ports.h"

namespace faultline {

enum class Owner {
  ranks,      // these ranks use it
  host,       // the job runs on its host; it is not known which ranks use it
  unknown,    // it is not known whose it is, or where the job runs
  bystander,  // no rank was seen there
};

struct Ownership {
  Owner owner = Owner::unknown;
  std::vector<std::size_t> workers;  // indices into view.workers.all
  std::optional<Ground> doubt;       // about whether it is the job's

  bool part_of_job() const { return owner != Owner::bystander; }
};

Ownership owner_of_host(const View& view, const std::string& host);
Ownership owner_of_gpu(const View& view, const std::string& host, const std::string& pci);

// Which ranks made connections over which NIC.
class NicUsers {
 public:
  explicit NicUsers(const View& view);

  // Indices into view.workers.all, ascending.
  std::vector<std::size_t> of(const NetworkPort& port) const;

 private:
  struct Use {
    std::string port;  // empty: the line names none
    std::size_t worker = 0;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Use>> by_device_;  // by host and device
};

Ownership owner_of_port(const View& view, const NicUsers& users, const NetworkPort& port);

// The owners of processes that a kernel names by their pids.
class ProcessOwners {
 public:
  explicit ProcessOwners(const View& view) : view_(view) {}

  // Owner::host: the job runs there, and no rank has one of these pids; it may still be a rank in a
  // container, which has pids of its own.
  Owner of(const std::string& host, const std::set<std::int64_t>& pids);

 private:
  // The pids of the ranks on a host.
  struct Pids {
    bool counted_by_host = false;  // all of them, as it looks
    bool count_alike = false;      // the kernel uses the same: it has named one of the ranks
  };
  const Pids& pids_of(const std::string& host);
  bool any_is_of_a_rank(const std::string& host, const std::set<std::int64_t>& pids) const;

  const View& view_;
  std::map<std::string, Pids> hosts_;
  std::optional<std::set<std::string>> counting_alike_;  // hosts
};

// Whether the pid looks like the host's count: training processes have high pids there. Low pids
// are a container's own.
bool is_counted_by_host(std::int64_t pid);

// Adds owners and hosts, perhaps very many, to a subject, which has them once it is done().
class Owners {
 public:
  Owners(const View& view, Subject& subject);
  void add(const Ownership& ownership, const std::string& host);
  void add_rank(int rank) { ranks_.insert(rank); }
  void done();

 private:
  const View& view_;
  Subject& subject_;
  std::set<int> ranks_;
  std::set<std::string> hosts_;
};

void add_owner(const View& view, const Ownership& ownership, const std::string& host,
               Subject& subject);

}  // namespace faultline
