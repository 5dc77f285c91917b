// Whose a part is: whether the job runs on its host, and which ranks use it.
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
  host,       // the job runs on its host; no line tells which ranks use it
  unknown,    // it is not known whose it is, or what the job runs on
  bystander,  // no rank was seen there
};

struct Ownership {
  Owner owner = Owner::unknown;
  std::vector<std::size_t> workers;  // indices into view.workers.all
  std::optional<Ground> doubt;       // whether it is the job's

  bool part_of_job() const { return owner != Owner::bystander; }
};

Ownership owner_of_host(const View& view, const std::string& host);
Ownership owner_of_gpu(const View& view, const std::string& host, const std::string& pci);

// Which ranks made connections over which NIC, by the lines that tell of them.
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
  std::map<std::pair<std::string, std::string>, std::vector<Use>> by_device_;  // and its host
};

Ownership owner_of_port(const View& view, const NicUsers& users, const NetworkPort& port);

// Whose process a kernel names by its pid. `host`: the job runs there, and no rank has this pid; it
// may still be a rank in a container, which counts pids of its own.
Owner owner_of_process(const View& view, const std::string& host,
                       const std::set<std::int64_t>& pids);

// Processes of a host that train have higher numbers; lower ones are a container's own count.
bool is_counted_by_host(std::int64_t pid);

// Hosts that ranks of the job run on.
std::set<std::string> hosts_of_job(const View& view);

void add_owner(const View& view, const Ownership& ownership, const std::string& host,
               Subject& subject);

// Whether a communicator of several hosts in which everybody waits has members on this host, and
// nobody was found late.
bool crosses_a_stall(const View& view, const std::string& host);

}  // namespace faultline
